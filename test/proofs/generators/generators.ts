import { readFile } from "node:fs/promises";
import { isDeepStrictEqual } from "node:util";
import { Argument } from "@commander-js/extra-typings";
import { defineProof, secondsSince } from "../../../scripts/command/command.ts";
import { replaceFile } from "../../../scripts/command/files.ts";
import { SERVER, startServerProcess } from "../../helpers/process.ts";
import { check, endChecks } from "../support/checks.ts";
import {
  GUIDE,
  LANGUAGE_GUIDE,
  readResults,
  toGuide,
  toLanguageGuide,
  toLanguageTable,
  writeResults,
} from "./guides.ts";
import { type Language, languages } from "./languages.ts";
import {
  type Finding,
  findToolchains,
  installGenerators,
  installLanguageGenerators,
  type LanguageFinding,
  tryLanguage,
  tryOwnClient,
  tryTool,
} from "./projects.ts";
import { type Tool, tools } from "./tools.ts";

const command = defineProof("generators")
  .option("--write", "save the results and write the guides, instead of comparing them")
  .addArgument(
    new Argument(
      "[name...]",
      "which TypeScript generators and which languages to try, without looking at the TypeScript guide; all when left out",
    ).choices([...tools, ...languages].map(({ name }) => name)),
  )
  .parse();
const [names] = command.processedArgs;
const isChosen = ({ name }: { readonly name: string }) => names.length === 0 || names.includes(name);
const start = performance.now();
/** How many languages have no toolchain here. */
let notRun = 0;
// A seed of this run, which the sandbox prints: what a client refuses can be repeated.
await using sandbox = await startServerProcess({ command: [...SERVER, "--tomorrow"] });
console.log(/--seed \d+/.exec(sandbox.welcome)?.[0]);
if (names.length === 0) await check("our own client", () => tryOwnClient(sandbox.url));
const findings = await tryTools(tools.filter(isChosen), sandbox.url);
const languageFindings = await tryLanguages(languages.filter(isChosen), sandbox.url);
if (command.opts().write) await writeResults(languageFindings);
const saved = await readResults();
console.log(toLanguageTable(saved));
console.log(`${notRun} not run`);
const allPassed = endChecks();

for (const { language, amount, passed } of languageFindings) {
  const known = saved[language.name];
  if (isDeepStrictEqual([known?.amount, known?.passed], [amount, passed])) continue;
  fail(`${language.title} differs from its saved results: ${amount}, ${JSON.stringify(passed)}`);
}
if (allPassed) {
  if (names.length === 0) await compareGuide(GUIDE, await toGuide(findings));
  await compareGuide(LANGUAGE_GUIDE, await toLanguageGuide());
}

async function tryTools(chosen: readonly Tool[], url: string): Promise<Finding[]> {
  if (chosen.length === 0) return [];
  console.log(`the TypeScript generators are ${await installGenerators()} (${secondsSince(start)})`);
  const findings: (Finding | undefined)[] = [];
  for (const tool of chosen) findings.push(await check(tool.packageName, () => tryTool(tool, url)));
  return findings.filter((finding) => finding !== undefined);
}

async function tryLanguages(chosen: readonly Language[], url: string): Promise<LanguageFinding[]> {
  const findings: (LanguageFinding | undefined)[] = [];
  for (const language of chosen) {
    const { versions, missing } = await findToolchains(language);
    if (missing.length > 0) {
      notRun += 1;
      console.log(`- ${language.title}: not run, because there is no ${missing.join(" and no ")} here`);
      continue;
    }
    // Only when a language runs, because the generators take 120 MB.
    if (findings.length === 0) {
      console.log(
        `the other languages' generators are ${await installLanguageGenerators()} (${secondsSince(start)})`,
      );
    }
    findings.push(await check(language.title, () => tryLanguage(language, versions, url)));
  }
  return findings.filter((finding) => finding !== undefined);
}

async function compareGuide(path: string, wanted: string): Promise<void> {
  const written = await readFile(path, "utf8");
  if (command.opts().write) await replaceFile(path, wanted);
  else if (written !== wanted) {
    const known = written.split("\n");
    const found = wanted.split("\n").filter((line) => !known.includes(line));
    fail([`${path} differs from what was found:`, ...found].join("\n"));
  }
}

function fail(message: string): void {
  console.error(`${message}\nRun npm run proof -- generators --write, and read the change.`);
  process.exitCode = 1;
}
