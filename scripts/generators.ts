import { readFile } from "node:fs/promises";
import { misused, readCommandLine } from "./lib/command-line.ts";
import { replaceFile } from "./lib/files.ts";
import { compileProject } from "./lib/generators/compile.ts";
import { exercise } from "./lib/generators/exercise.ts";
import { type Finding, GUIDE, toGuide } from "./lib/generators/guide.ts";
import { type Tool, tools } from "./lib/generators/tools.ts";
import {
  installGenerators,
  openProject,
  readGenerated,
  runShell,
  versionOf,
} from "./lib/generators/workshop.ts";
import { secondsSince } from "./lib/redocly.ts";
import { withSandboxProcess } from "./lib/sandbox-process.ts";

/*
 * Proves that other people's generators can read the contract: each makes a client of what a running sandbox serves, the
 * client is compiled and measured, and a program issues a refund and a subscription through it. The guide's table is what
 * was measured: a difference fails, and with --write the guide is written instead. Names of tools run only these, and
 * leave the guide alone.
 */
/** A field that only events have, where it is declared as a type. */
const EVENT_FIELD = /\bsequence["']?\??:\s*[A-Za-z]/;

const USAGE = `npm run generators -- [--write] [name…]

  --write  writes what was measured into the guide, instead of comparing it
  name     ${tools.map(({ name }) => name).join(", ")}; all when left out
`;

const { values, positionals } = readCommandLine(USAGE, {
  options: { write: { type: "boolean", default: false } },
  allowPositionals: true,
});
const unknown = positionals.filter((name) => !tools.some((tool) => tool.name === name));
if (unknown.length > 0) misused(`There is no ${unknown.join(", ")}.`, USAGE);
await main(tools.filter(({ name }) => positionals.length === 0 || positionals.includes(name)));

async function main(chosen: readonly Tool[]): Promise<void> {
  const start = performance.now();
  console.log("installing the generators…");
  console.log(`${await installGenerators()} (${secondsSince(start)})`);

  const findings = await withSandboxProcess(async ({ url }) => {
    const results: (Finding | undefined)[] = [];
    for (const tool of chosen) results.push(await tryOut(tool, url));
    return results.filter((finding) => finding !== undefined);
  });

  const failed = chosen.length - findings.length;
  console.log(`${findings.length} passed, ${failed} failed (${secondsSince(start)})`);
  if (failed > 0) process.exitCode = 1;
  else if (chosen.length === tools.length) await compareGuide(findings);
}

/** Undefined when the tool failed; says why. */
async function tryOut(tool: Tool, url: string): Promise<Finding | undefined> {
  const start = performance.now();
  try {
    const project = await openProject(tool, url);
    await runShell(tool.command, project.folder);
    const generated = await readGenerated(project);
    const stale = tool.notes.filter(({ sign }) => !sign.test(generated));
    if (stale.length > 0) throw new Error(`no longer so: ${stale.map(({ text }) => text).join(" ")}`);
    // What the guide says about events rests on the type that is named here, or on there being none.
    if (EVENT_FIELD.test(generated) !== (tool.types.event !== undefined))
      throw new Error("events: has it types or not?");
    const compiled = await compileProject(project);
    await exercise(project, url);
    console.log(`✓ ${tool.packageName} (${secondsSince(start)})`);
    const names = [tool.packageName, ...(tool.beside ?? [])];
    const packages = await Promise.all(names.map(async (name) => `${name}@${await versionOf(name)}`));
    return { ...compiled, tool, packages };
  } catch (error) {
    console.log(
      `✗ ${tool.packageName} (${secondsSince(start)})\n${error instanceof Error ? error.message : error}`,
    );
    return undefined;
  }
}

async function compareGuide(findings: readonly Finding[]): Promise<void> {
  const [wanted, written] = [await toGuide(findings), await readFile(GUIDE, "utf8")];
  if (values.write) await replaceFile(GUIDE, wanted);
  else if (written !== wanted) {
    const known = written.split("\n");
    const found = wanted.split("\n").filter((line) => !known.includes(line));
    console.error(`${["The guide does not say what was found:", ...found].join("\n")}`);
    console.error("Run npm run generators -- --write, and read the change.");
    process.exitCode = 1;
  }
}
