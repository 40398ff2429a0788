import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { ROOT } from "../../../scripts/command/redocly.ts";
import { fillPart } from "./guide.ts";
import { AMOUNTS } from "./language-checks.ts";
import type { LanguageFinding } from "./language-projects.ts";
import { type Language, languages } from "./languages.ts";

/** The guide whose marked parts are the table of results, and each language's commands and code. */
export const LANGUAGE_GUIDE = join(ROOT, "docs/guides/clients-by-language.md");

const TRIED_WITH = 2;

/**
 * The expected text of the guide. Rows of languages that did not run stay unchanged; with `keepVersions`, the toolchains of
 * the others stay unchanged too, because versions differ between machines.
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
    return toRow(cellsOf(finding, keepVersions ? known?.split(" | ")[TRIED_WITH] : undefined));
  });
  const head = ["language", "generator", "tried with", "`amount.value`", "exact in the record", "checks"];
  let guide = fillPart(written, "table", [toRow(head), toRow(head.map(() => "---")), ...rows].join("\n"));
  for (const language of languages) guide = fillPart(guide, language.name, await toPart(language));
  return guide;
}

function cellsOf(finding: LanguageFinding, versions = finding.versions.join(", ")): string[] {
  const { language, amount, passed, violations } = finding;
  return [
    linkTo(language),
    language.generator,
    versions,
    `\`${amount}\``,
    AMOUNTS.join(", "),
    `${passed} of ${passed + violations.length}`,
  ];
}

function linkTo({ title, name }: Language): string {
  return `[${title}](../../test/proofs/generators/clients/${name})`;
}

function toRow(cells: readonly string[]): string {
  return `| ${cells.join(" | ")} |`;
}

async function toPart({ name, generate, sample }: Language): Promise<string> {
  const code = await readFile(join(ROOT, "test/proofs/generators/clients", name, sample), "utf8");
  return `\`\`\`sh\n${generate}\n\`\`\`\n\n\`\`\`${name} file=${sample}\n${code.trim()}\n\`\`\``;
}
