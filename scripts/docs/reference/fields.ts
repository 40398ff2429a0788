import { isDeepStrictEqual } from "node:util";
import type { Source } from "../../../openapi/document/contract.ts";
import { follow, members, type Node } from "../../../openapi/document/node.ts";

/** A field of a body, at any depth. */
export type Row = {
  /** The full path, such as `amount.value`. */
  readonly path: string;
  readonly presence: "required" | "optional" | "optional, deprecated";
  readonly type: string;
  readonly description: string;
  readonly sources: readonly Source[];
};

/**
 * Lists the fields of a schema, each followed by its own fields. Alternatives of one schema are listed one after the other.
 */
export function rowsOf(document: Node, schema: unknown, prefix = "", branch = ""): Row[] {
  const whole = follow(document, schema);
  const required = (whole.required ?? []) as readonly string[];
  const own = members(whole.properties).flatMap(([name, property]) => {
    const resolved = follow(document, property);
    const path = `${prefix}${name}${branch}`;
    const row: Row = {
      path,
      presence: presenceOf(required.includes(name), resolved),
      type: describeType(document, resolved),
      description: sentenceOf(resolved, property),
      sources: (resolved["x-source"] ?? []) as readonly Source[],
    };
    const items = resolved.type === "array" ? rowsOf(document, resolved.items, `${prefix}${name}[].`) : [];
    return [row, ...rowsOf(document, resolved, `${prefix}${name}.`), ...items];
  });
  const alternatives = ["oneOf", "allOf", "anyOf"].flatMap((key) =>
    ((whole[key] ?? []) as readonly unknown[]).flatMap((one, index) => {
      const { title } = follow(document, one);
      const mark = key === "allOf" ? "" : ` (${typeof title === "string" ? title : `form ${index + 1}`})`;
      return rowsOf(document, one, prefix, mark);
    }),
  );
  return [...own, ...alternatives];
}

function presenceOf(required: boolean, { deprecated }: Node): Row["presence"] {
  if (required) return "required";
  return deprecated ? "optional, deprecated" : "optional";
}

function sentenceOf(resolved: Node, property: Node): string {
  const text = String(property.description ?? resolved.description ?? "");
  // A table can't be nested in a cell; its content is on the page of problems.
  return text
    .split(/\n\s*\n/)
    .filter((part) => !part.startsWith("|"))
    .join(" ")
    .replaceAll(/\s+/g, " ")
    .trim();
}

/** Describes the values that a schema allows. */
export function describeType(document: Node, schema: Node): string {
  if (schema.const !== undefined) return `\`${JSON.stringify(schema.const)}\``;
  const values = (schema.enum ?? schema["x-extensible-enum"]) as readonly unknown[] | undefined;
  if (values) {
    const list = values.map((value) => `\`${value}\``).join(", ");
    return schema.enum ? `one of ${list}` : `string, today one of ${list}`;
  }
  const type = Array.isArray(schema.type) ? schema.type.join(" or ") : String(schema.type ?? "object");
  if (schema.type === "array")
    return `list of ${describeType(document, follow(document, schema.items))}${boundsOf(schema)}`;
  return `${type}${boundsOf(schema)}`;
}

const BOUNDS: readonly (readonly [key: string, text: (value: unknown) => string])[] = [
  ["format", (value) => String(value)],
  ["minLength", (value) => `at least ${value} long`],
  ["maxLength", (value) => `at most ${value} long`],
  ["pattern", (value) => `matches \`${String(value).replaceAll("|", "\\|")}\``],
  ["minimum", (value) => `at least ${value}`],
  ["exclusiveMinimum", (value) => `more than ${value}`],
  ["maximum", (value) => `at most ${value}`],
  ["x-fraction-digits", (value) => `at most ${value} digits after the point`],
  ["minItems", (value) => `at least ${value}`],
  ["maxItems", (value) => `at most ${value}`],
];

function boundsOf(schema: Node): string {
  return BOUNDS.filter(([key]) => schema[key] !== undefined)
    .map(([key, text]) => `, ${text(schema[key])}`)
    .join("");
}

/** A header of the responses to one operation. */
export type ResponseHeader = {
  readonly name: string;
  /** The responses that have the header. */
  readonly statuses: readonly string[];
  readonly presence: "always" | "sometimes";
  readonly type: string;
  readonly description: string;
  readonly example: unknown;
  readonly sources: readonly Source[];
};

/** Lists the headers of all responses to an operation: each once for all statuses that declare it in the same way. */
export function responseHeadersOf(document: Node, operation: Node): ResponseHeader[] {
  const found: { name: string; header: Node; statuses: string[] }[] = [];
  for (const [status, response] of members(operation.responses)) {
    for (const [name, part] of members(follow(document, response).headers)) {
      const header = follow(document, part);
      const known = found.find((one) => one.name === name && isDeepStrictEqual(one.header, header));
      if (known) known.statuses.push(status);
      else found.push({ name, header, statuses: [status] });
    }
  }
  return found.map(({ name, header, statuses }) => ({
    name,
    statuses,
    presence: header.required ? "always" : "sometimes",
    type: describeType(document, follow(document, header.schema)),
    description: String(header.description ?? ""),
    example: header.example,
    sources: (header["x-source"] ?? []) as readonly Source[],
  }));
}
