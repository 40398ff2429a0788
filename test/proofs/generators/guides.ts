import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { ROOT } from "../../../scripts/command/redocly.ts";
import type { Compiled } from "./compile.ts";
import { AMOUNTS } from "./language-checks.ts";
import { type Language, languages } from "./languages.ts";
import type { Finding, LanguageFinding } from "./projects.ts";

/** The guides, whose marked parts are the results. */
export const GUIDE = join(ROOT, "docs/guides/generate-your-own-client.md");
export const LANGUAGE_GUIDE = join(ROOT, "docs/guides/clients-by-language.md");

/** The expected text of the guide: its own words, with the results in its marked parts. */
export async function toGuide(findings: readonly Finding[]): Promise<string> {
  const guide = await readFile(GUIDE, "utf8");
  return [
    ["table", toTable(findings)],
    ["commands", toCommands(findings)],
  ].reduce((text, [name = "", content = ""]) => fillPart(text, name, content), guide);
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

function toTable(findings: readonly Finding[]): string {
  const head = [
    "tool",
    "refund",
    "problem",
    "status",
    "subscription",
    "events",
    "amount",
    "does not compile with",
  ];
  const rows = findings.map(({ tool, packages, measured, refused }) => [
    `[${tool.packageName}](https://www.npmjs.com/package/${tool.packageName}) ${packages[0]?.split("@").at(-1)}`,
    measured.success,
    toProblemCell(measured),
    toStatusCell(measured),
    measured.subscription === "union" ? "union" : "any `type`",
    measured.event === "none" ? "none" : `${measured.event}, \`timestamp\` is a \`${measured.timestamp}\``,
    code(measured.amount),
    refused.length === 0 ? "" : refused.map(code).join(", "),
  ]);
  return [head, head.map(() => "---"), ...rows].map(toRow).join("\n");
}

function toProblemCell({ problem, problemStatus }: Compiled["measured"]): string {
  if (problem !== "typed") return problem;
  return `typed, told apart by ${/^\d+$/.test(problemStatus) ? "status" : "its fields"}`;
}

function toStatusCell({ successStatus, problemStatus }: Compiled["measured"]): string {
  if (successStatus === "none") return `of problems only: ${code(problemStatus)}`;
  return successStatus === problemStatus
    ? code(successStatus)
    : `${code(successStatus)}, ${code(problemStatus)}`;
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

/** The column of the toolchains' versions. */
const TRIED_WITH = 2;

/**
 * The expected text of the guide to languages. Rows of languages that did not run stay unchanged; with `keepVersions`, the
 * toolchains of the others stay unchanged too, because versions differ between machines.
 */
export async function toLanguageGuide(
  findings: readonly LanguageFinding[],
  { keepVersions }: { readonly keepVersions: boolean },
): Promise<string> {
  const written = await readFile(LANGUAGE_GUIDE, "utf8");
  const rows = languages.map((language) => {
    const known = written.split("\n").find((line) => line.startsWith(`| [${language.title}](`));
    const finding = findings.find((one) => one.language === language);
    if (!finding) return known ?? toRow([linkTo(language), language.generator, "not run", "", "", ""]);
    const versions = keepVersions ? known?.split(" | ")[TRIED_WITH] : undefined;
    return toRow(cellsOf(finding, versions));
  });
  const head = ["language", "generator", "tried with", "`amount.value`", "exact in the record", "checks"];
  let guide = fillPart(written, "table", [toRow(head), toRow(head.map(() => "---")), ...rows].join("\n"));
  for (const language of languages) guide = fillPart(guide, language.name, await toPart(language));
  return guide;
}

function cellsOf(finding: LanguageFinding, versions = finding.versions.join(", ")): string[] {
  const { language, amount, passed, violations } = finding;
  const checks = `${passed} of ${passed + violations.length}`;
  return [linkTo(language), language.generator, versions, code(amount), AMOUNTS.join(", "), checks];
}

function linkTo({ title, name }: Language): string {
  return `[${title}](../../test/proofs/generators/clients/${name})`;
}

async function toPart({ name, generate, sample }: Language): Promise<string> {
  const text = await readFile(join(ROOT, "test/proofs/generators/clients", name, sample), "utf8");
  return `\`\`\`sh\n${generate}\n\`\`\`\n\n\`\`\`${name} file=${sample}\n${text.trim()}\n\`\`\``;
}
