import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { ROOT } from "../../../scripts/command/redocly.ts";
import type { Compiled } from "./compile.ts";
import type { Tool } from "./tools.ts";

/** The guide, whose marked parts contain the results of the suite. */
export const GUIDE = join(ROOT, "docs/guides/generate-your-own-client.md");

/** The results of a tool that passed. */
export type Finding = Compiled & {
  readonly tool: Tool;
  /** The tool and its further packages, each as `name@version`. */
  readonly packages: readonly string[];
};

/** The expected text of the guide: its own words, with the results in its marked parts. */
export async function toGuide(findings: readonly Finding[]): Promise<string> {
  const guide = await readFile(GUIDE, "utf8");
  return [
    ["table", toTable(findings)],
    ["commands", toCommands(findings)],
  ].reduce((text, [name = "", content = ""]) => fillPart(text, name, content), guide);
}

/** The guide with `content` in its part `name`. */
export function fillPart(guide: string, name: string, content: string): string {
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
  return [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
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
