import type { Source } from "./badges.ts";
import { callsOf } from "./calls.ts";
import { entriesOf, follow, type Json } from "./json.ts";
import type { Rendering, Site } from "./rendering.ts";
import { samplesOf } from "./samples.ts";
import { rowsOf } from "./schema-rows.ts";

const LANGUAGES: Readonly<Record<string, string>> = {
  Shell: "sh",
  JavaScript: "js",
  Python: "python",
};

/** Both contracts as Markdown: what the page shows of them, for readers without it. */
export function renderReference(site: Site, rendering: Rendering): string {
  const { info } = site.published.document as { info: Json };
  const write = createWriter(rendering);
  return [
    `# ${info.title} ${info.version}: reference`,
    `${info.summary}`,
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
  const sourced = (part: Json) => {
    const sources = (part["x-source"] ?? []) as readonly Source[];
    return [String(part.description ?? "").trim(), sources.length > 0 ? badges(sources) : ""]
      .filter((text) => text !== "")
      .join("\n\n");
  };

  const fields = (document: Json, schema: unknown): string[] => {
    const rows = rowsOf(document, schema).map(
      ({ path, presence, type, description, sources }) =>
        `| \`${path}\` | ${presence} | ${type} | ${description} ${sources.length > 0 ? badges(sources) : ""} |`,
    );
    return rows.length > 0 ? [["| field | | type | meaning |", "|---|---|---|---|", ...rows].join("\n")] : [];
  };

  const body = (document: Json, holder: Json): string[] => {
    const [media] = entriesOf(holder.content);
    if (!media) return [];
    const examples = entriesOf(media[1].examples).map(([, example]) => follow(document, example));
    const [first] = examples;
    return [
      ...fields(document, media[1].schema),
      ...(first ? [`${first.summary}:`, fence("json", JSON.stringify(first.value, null, 2))] : []),
    ];
  };

  const responses = (document: Json, operation: Json): string[] => {
    const all = entriesOf(operation.responses).map(([status, part]) => ({
      status,
      response: follow(document, part),
    }));
    const rows = all.map(({ status, response }) => {
      const text = String(response.description ?? "")
        .replaceAll(/\s+/g, " ")
        .trim();
      return `| ${status} | ${text} ${badges((response["x-source"] ?? []) as readonly Source[])} |`;
    });
    const success = all.filter(({ status }) => status.startsWith("2"));
    return [
      "#### Answers",
      ["| status | meaning |", "|---|---|", ...rows].join("\n"),
      ...success.flatMap(({ response }) => body(document, response)),
    ];
  };

  const parameters = (document: Json, ...lists: unknown[]): string[] => {
    const rows = lists
      .flatMap((list) => (list ?? []) as unknown[])
      .map((part) => {
        const parameter = follow(document, part);
        return `| \`${parameter.name}\` | ${parameter.in} | ${parameter.required ? "required" : "optional"} | ${sourced(parameter).replaceAll(/\s+/g, " ")} |`;
      });
    return rows.length > 0
      ? [["| parameter | in | | meaning |", "|---|---|---|---|", ...rows].join("\n")]
      : [];
  };

  const operation = (document: Json, address: string, item: Json, part: Json): string[] => {
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

  const contract = (document: Json): string[] => {
    const calls = entriesOf(document.paths).flatMap(([path, item]) =>
      operationsIn(item).map(([method, part]) => ({
        address: `${method.toUpperCase()} ${path}`,
        item,
        part,
      })),
    );
    const events = entriesOf(document.webhooks).flatMap(([name, item]) =>
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

  /** The schemas of all problems, each once: most operations share them. */
  const problems = (documents: readonly Json[]): string[] => {
    const known = new Map(
      documents.flatMap((document) => problemSchemas(document).map((one) => [one.name, one])),
    );
    return [...known.values()].flatMap(({ document, name, schema }) => [
      `### ${name}`,
      sourced(follow(document, schema)),
      ...fields(document, schema),
    ]);
  };
  return { contract, problems };
}

function problemSchemas(document: Json) {
  const { responses } = document.components as { responses: Json };
  return entriesOf(responses).flatMap(([, response]) => {
    const schema = (response.content as Json | undefined)?.["application/problem+json"] as Json | undefined;
    const reference = (schema?.schema as Json | undefined)?.$ref;
    if (typeof reference !== "string") return [];
    return [{ document, name: reference.split("/").at(-1) ?? "", schema: schema?.schema }];
  });
}

function operationsIn(item: Json): [string, Json][] {
  return entriesOf(item).filter(([, part]) => part.operationId !== undefined);
}

function fence(language: string, text: string): string {
  return `\`\`\`${language}\n${text}\n\`\`\``;
}

/** Puts the headings of a text below those of the file that it becomes a part of. */
function demote(markdown: string): string {
  return markdown.replaceAll(/^#/gm, "##").trim();
}
