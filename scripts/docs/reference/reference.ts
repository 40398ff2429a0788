import type { Source } from "../../../openapi/document/contract.ts";
import { follow, isReference, members, type Node } from "../../../openapi/document/node.ts";
import { writeDownloads } from "../downloads.ts";
import { partsOf, toMarkdown } from "../markdown.ts";
import type { Rendering, Site } from "../rendering.ts";
import { callsOf } from "./calls.ts";
import { describeType, responseHeadersOf, rowsOf } from "./fields.ts";
import { samplesOf } from "./samples.ts";

const LANGUAGES: Readonly<Record<string, string>> = {
  Shell: "sh",
  JavaScript: "js",
  Python: "python",
  Go: "go",
  Java: "java",
  "C#": "csharp",
  PHP: "php",
  Ruby: "ruby",
};

/** Both contracts as Markdown: the content of the page, for readers without a browser. */
export function renderReference(site: Site, rendering: Rendering): string {
  const { info } = site.published.document as { info: Node };
  const write = createWriter(rendering);
  return [
    `# ${info.title} ${info.version}: reference`,
    `${info.summary}`,
    writeDownloads(),
    demote(String(info.description)),
    ...write.contract(site.published.document),
    "## The sandbox's own calls",
    "For tests only; they do not exist in production.",
    ...write.contract(site.sandbox.document),
    "## Bodies of problems",
    ...write.problems([site.published.document, site.sandbox.document]),
  ]
    .join("\n\n")
    .concat("\n");
}

function createWriter({ badges }: Rendering) {
  const sourced = (part: Node) => {
    const sources = (part["x-source"] ?? []) as readonly Source[];
    return [String(part.description ?? "").trim(), sources.length > 0 ? badges(sources) : ""]
      .filter((text) => text !== "")
      .join("\n\n");
  };

  const fields = (document: Node, schema: unknown): string[] => {
    const rows = rowsOf(document, schema).map(
      ({ path, presence, type, description, sources }) =>
        `| \`${path}\` | ${presence} | ${type} | ${description} ${sources.length > 0 ? badges(sources) : ""} |`,
    );
    return table(["field", "", "type", "meaning"], rows);
  };

  const body = (document: Node, holder: Node): string[] => {
    const [media] = members(holder.content);
    if (!media) return [];
    return [...fields(document, media[1].schema), ...examples(document, media[1])];
  };

  const responses = (document: Node, operation: Node): string[] => {
    const all = members(operation.responses).map(([status, part]) => ({
      status,
      response: follow(document, part),
    }));
    const rows = all.map(({ status, response }) => {
      const text = String(response.description ?? "")
        .replaceAll(/\s+/g, " ")
        .trim();
      return `| ${status} | ${text} ${badges((response["x-source"] ?? []) as readonly Source[])} |`;
    });
    const successes = all.filter(({ status, response }) => status.startsWith("2") && response.content);
    return [
      "#### Responses",
      ...table(["status", "meaning"], rows),
      ...headers(document, operation),

      ...successes.flatMap(({ status, response }) => [
        `The body of a ${status}:`,
        ...body(document, response),
      ]),
    ];
  };

  const headers = (document: Node, operation: Node): string[] => {
    const rows = responseHeadersOf(document, operation).map(
      ({ name, statuses, presence, type, description, example, sources }) => {
        const known = example === undefined || description.includes(String(example));
        const such = known ? "" : ` Such as \`${example}\`.`;
        return `| \`${name}\` | ${statuses.join(", ")} | ${presence} | ${type} | ${description}${such} ${badges(sources)} |`;
      },
    );
    return table(["header", "of", "", "type", "meaning"], rows);
  };

  const parameters = (document: Node, ...lists: unknown[]): string[] => {
    const rows = lists
      .flatMap((list) => (list ?? []) as unknown[])
      .map((part) => {
        const parameter = follow(document, part);
        const presence = parameter.required ? "required" : "optional";
        const type = describeType(document, follow(document, parameter.schema));
        return `| \`${parameter.name}\` | ${parameter.in} | ${presence} | ${type} | ${sourced(parameter).replaceAll(/\s+/g, " ")} |`;
      });
    return table(["parameter", "in", "", "type", "meaning"], rows);
  };

  const operation = (document: Node, address: string, item: Node, part: Node): string[] => {
    const request = follow(document, part.requestBody);
    const call = callsOf(document).find(({ operationId }) => operationId === part.operationId);
    const samples = call ? samplesOf(call) : [];
    return [
      `### ${part.summary}`,
      `\`${address}\``,
      sourced(part),
      ...parameters(document, item.parameters, part.parameters),
      ...(part.requestBody ? ["#### Body", sourced(request), ...body(document, request)] : []),
      ...responses(document, part),
      ...samples.flatMap(({ lang, label, source }) => [
        `${label}:`,
        fence(LANGUAGES[lang] ?? "text", source),
      ]),
    ].filter((text) => text !== "");
  };

  const contract = (document: Node): string[] => {
    const calls = members(document.paths).flatMap(([path, item]) =>
      operationsIn(item).map(([method, part]) => ({
        address: `${method.toUpperCase()} ${path}`,
        item,
        part,
      })),
    );
    const events = members(document.webhooks).flatMap(([name, item]) =>
      operationsIn(item).map(([, part]) => ({ address: name, item, part })),
    );
    return (document.tags as { name: string; description: string }[]).flatMap(({ name, description }) => [
      `## ${name}`,
      description.trim(),
      ...[...calls, ...events]
        .filter(({ part }) => (part.tags as readonly string[]).includes(name))
        .flatMap(({ address, item, part }) => operation(document, address, item, part)),
    ]);
  };

  /** The bodies of all problems, each once: most operations share them. */
  const problems = (documents: readonly Node[]): string[] => {
    const known = new Map<string, { document: Node; schema: unknown; shown: Set<string> }>();
    for (const { document, name, media } of documents.flatMap(problemBodies)) {
      const entry = known.get(name) ?? { document, schema: media.schema, shown: new Set() };
      known.set(name, entry);
      for (const text of examples(document, media)) entry.shown.add(text);
    }
    return [...known].flatMap(([name, { document, schema, shown }]) => [
      `### ${name}`,
      sourced(follow(document, schema)),
      ...fields(document, schema),
      ...shown,
    ]);
  };
  return { contract, problems };
}

function problemBodies(document: Node) {
  const { responses } = document.components as { responses: Node };
  return members(responses).flatMap(([, response]) => {
    const media = (response.content as Node | undefined)?.["application/problem+json"] as Node | undefined;
    const schema = media?.schema;
    if (!media || !isReference(schema)) return [];
    return [{ document, name: schema.$ref.split("/").at(-1) ?? "", media }];
  });
}

function operationsIn(item: Node): [string, Node][] {
  return members(item).filter(([, part]) => part.operationId !== undefined);
}

/** Every example of a body, under its summary. */
function examples(document: Node, media: Node): string[] {
  return members(media.examples)
    .map(([, example]) => follow(document, example))
    .map(({ summary, value }) => `${summary}:\n\n${fence("json", JSON.stringify(value, null, 2))}`);
}

/** A table of finished rows; nothing when there are no rows. */
function table(heads: readonly string[], rows: readonly string[]): string[] {
  if (rows.length === 0) return [];
  return [[`| ${heads.join(" | ")} |`, `|${"---|".repeat(heads.length)}`, ...rows].join("\n")];
}

function fence(language: string, text: string): string {
  return `\`\`\`${language}\n${text}\n\`\`\``;
}

/** Lowers the headings of a text below those of the file that it becomes a part of. */
function demote(markdown: string): string {
  const parts = partsOf(markdown);
  for (const part of parts) if (part.type === "heading") part.depth = Math.min(part.depth + 1, 6) as 2;
  return toMarkdown(parts).trim();
}
