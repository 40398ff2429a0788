import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { parse, stringify } from "yaml";
import { replaceFile } from "../../../scripts/command/files.ts";
import { ROOT } from "../../../scripts/command/root.ts";
import { CHECKS } from "./language-checks.ts";
import { type Language, languages } from "./languages.ts";
import type { Finding, LanguageFinding } from "./projects.ts";

/** The guides, whose marked parts are the results. */
export const GUIDE = join(ROOT, "docs/guides/generate-your-own-client.md");
export const LANGUAGE_GUIDE = join(ROOT, "docs/guides/clients-by-language.md");

/** The expected text of the guide: its own words, with the commands in their marked part. */
export async function toGuide(findings: readonly Finding[]): Promise<string> {
  return fillPart(await readFile(GUIDE, "utf8"), "commands", toCommands(findings));
}

/** The guide with `content` in its part `name`. */
function fillPart(guide: string, name: string, content: string): string {
  const [begin, end] = [
    `<!-- ${name}: written by npm run proof -- generators --write -->`,
    `<!-- end of ${name} -->`,
  ];
  const [before, rest] = guide.split(begin);
  const after = rest?.split(end)[1];
  if (before === undefined || after === undefined) throw new Error(`the guide has no part "${name}"`);
  return `${before}${begin}\n\n${content}\n\n${end}${after}`;
}

function toCommands(findings: readonly Finding[]): string {
  return findings
    .map(({ tool, packages }) => {
      const notes = tool.notes.map(({ text }) => text).join(" ");
      const program = `[\`test/proofs/generators/clients/typescript/${tool.name}.ts\`](../../test/proofs/generators/clients/typescript/${tool.name}.ts)`;
      const configuration = tool.configuration
        ? ` and [\`${tool.configuration}\`](../../test/proofs/generators/clients/typescript/${tool.configuration})`
        : "";
      return `### ${tool.packageName}\n\n${notes}\n\n\`\`\`sh\nnpm install ${packages.join(" ")}\n${tool.command}\n\`\`\`\n\nIn use: ${program}${configuration}.`;
    })
    .join("\n\n");
}

/** A type or a flag as code in a table, in which a bar would end the cell. */
function code(text: string): string {
  return `\`${text.replaceAll("|", "\\|")}\``;
}

function toRow(cells: readonly string[]): string {
  return `| ${cells.join(" | ")} |`;
}

/** The last results of each language, by its name: on every machine the guide is made from these. */
const RESULTS = join(import.meta.dirname, "results.yaml");

type Result = {
  /** The day of the run, as `2026-11-23`. */
  readonly date: string;
  readonly versions: readonly string[];
  readonly amount: string;
  readonly passed: LanguageFinding["passed"];
};

export const readResults = async (): Promise<Readonly<Record<string, Result>>> =>
  parse(await readFile(RESULTS, "utf8"));

/** Replaces the results of the languages that ran. */
export async function writeResults(findings: readonly LanguageFinding[]): Promise<void> {
  const date = new Date().toISOString().slice(0, 10);
  const found = findings.map(({ language, ...rest }) => [language.name, { date, ...rest }]);
  await replaceFile(RESULTS, stringify({ ...(await readResults()), ...Object.fromEntries(found) }));
}

/** The expected text of the guide to languages, from the saved results. */
export async function toLanguageGuide(): Promise<string> {
  let guide = fillPart(await readFile(LANGUAGE_GUIDE, "utf8"), "table", toLanguageTable(await readResults()));
  for (const language of languages) guide = fillPart(guide, language.name, await toPart(language));
  return guide;
}

/** One row for each language, with the checks that passed. */
export function toLanguageTable(results: Readonly<Record<string, Result>>): string {
  const head = [
    "language",
    "generator, and the document that it reads",
    "tried with",
    "`amount.value`",
    "checks",
  ];
  const rows = languages.map((language) => [
    linkTo(language),
    `${language.generator}, from ${language.generate.includes("openapi-3.0.yaml") ? "3.0" : "3.1"}`,
    ...toResultCells(results[language.name]),
  ]);
  return [head, head.map(() => "---"), ...rows].map(toRow).join("\n");
}

function toResultCells(result: Result | undefined): string[] {
  if (!result) return ["not run", "", ""];
  const { versions, date, amount, passed } = result;
  const checks = CHECKS.map((check) => `${check} ${passed[check] ?? "not run"}`).join(", ");
  return [`${versions.join(", ")}, on ${date}`, code(amount), checks];
}

function linkTo({ title, name }: Language): string {
  return `[${title}](../../test/proofs/generators/clients/${name})`;
}

async function toPart({ name, generate, jars = [], samples }: Language): Promise<string> {
  const files = samples.map(async (file) => {
    const text = await readFile(join(ROOT, "test/proofs/generators/clients", name, file), "utf8");
    return `\`\`\`${file.endsWith(".toml") ? "toml" : name} file=${file}\n${text.trim()}\n\`\`\``;
  });
  const needs = jars.length === 0 ? [] : [`The client was compiled with ${jars.map(code).join(", ")}.`];
  return [`\`\`\`sh\n${generate}\n\`\`\``, ...needs, ...(await Promise.all(files))].join("\n\n");
}
