import { stringify } from "yaml";
import { members, type Node } from "../../../openapi/document/node.ts";
import { operationsOf } from "../../../openapi/document/operations.ts";
import { writeDownloads } from "../downloads.ts";
import { partsOf, toMarkdown } from "../markdown.ts";
import type { Site } from "../rendering.ts";
import { callsOf } from "./calls.ts";
import { samplesOf } from "./samples.ts";

/**
 * Both contracts as Markdown, for programs and for readers without a browser: each operation under its heading in the words of
 * OpenAPI, which say everything about a field, a response and an event.
 */
export function renderReference({ published, sandbox }: Site): string {
  const { info } = published.document as { info: Node };
  return [
    `# ${info.title} ${info.version}: reference`,
    `${info.summary}`,
    writeDownloads(),
    demote(String(info.description)),
    ...renderContract(published.document, "the service"),
    "## The sandbox's own calls",
    "For tests only; they do not exist in production.",
    ...renderContract(sandbox.document, "the sandbox"),
  ]
    .join("\n\n")
    .concat("\n");
}

function renderContract(document: Node, owner: string): string[] {
  const operations = operationsOf(document);
  const samples = new Map(callsOf(document).map((call) => [call.operationId, samplesOf(call)]));
  const tags = (document.tags as { name: string; description: string }[]).flatMap(({ name, description }) => [
    `## ${name}`,
    description.trim(),
    ...operations
      .filter(({ operation }) => (operation.tags as readonly string[]).includes(name))
      .flatMap(({ kind, path, method, item, operation }) => {
        const { summary, description: text, operationId, tags: _, parameters = [], ...rest } = operation;
        const all = [...((item.parameters ?? []) as Node[]), ...(parameters as Node[])];
        const [curl] = samples.get(String(operationId)) ?? [];
        return [
          `### ${summary}`,
          kind === "paths" ? `\`${method.toUpperCase()} ${path}\`` : `\`${path}\``,
          `${text ?? ""}`.trim(),
          toYaml(all.length > 0 ? { parameters: all, ...rest } : rest),
          ...(curl ? [`\`\`\`sh\n${curl.source}\n\`\`\``] : []),
        ];
      }),
  ]);
  const components = members(document.components).flatMap(([kind, parts]) => [
    `### ${kind} of ${owner}`,
    toYaml({ components: { [kind]: parts } }),
  ]);
  return [...tags, `## What the operations of ${owner} share`, ...components].filter((text) => text !== "");
}

function toYaml(part: object): string {
  return `\`\`\`yaml\n${stringify(part, { lineWidth: 0, aliasDuplicateObjects: false })}\`\`\``;
}

/** Lowers the headings of a text below those of the file that it becomes a part of. */
function demote(markdown: string): string {
  const parts = partsOf(markdown);
  for (const part of parts) if (part.type === "heading") part.depth = Math.min(part.depth + 1, 6) as 2;
  return toMarkdown(parts).trim();
}
