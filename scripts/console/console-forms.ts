/** Reads from the contract what the console's forms need of each field: its type, its limits as a hint, and a pattern. */
import { findConstraintsOfSchema } from "../../openapi/document/constraints.ts";
import { dereference, type Node } from "../../openapi/document/document-node.ts";
import { KEYWORDS, limitsValues } from "../../openapi/document/known-keywords.ts";
import { step } from "../../openapi/document/pointer.ts";
import type { Constraints } from "../../server/sandbox/console/ui/form-constraints.ts";

type Schema = Node & {
  readonly type?: Constraints["type"];
  readonly enum?: string[];
  readonly const?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly "x-fraction-digits"?: number;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly oneOf?: readonly Schema[];
};

/** The keywords that a form obeys by its fields and choices, without a hint. */
const BY_FIELDS = ["required", "additionalProperties", "oneOf", "const", "minItems", "maxItems"];

/** The constraints of each field of a schema, by its JSON Pointer. Throws for any other keyword without a hint. */
export function readForm(document: Node, pointer: string): Record<string, Constraints> {
  const unmentioned = findConstraintsOfSchema(document, pointer).find(
    ({ keyword }) => !BY_FIELDS.includes(keyword) && !KEYWORDS[keyword]?.hint,
  );
  if (unmentioned)
    throw new Error(`the console has no hint for "${unmentioned.keyword}" at ${unmentioned.pointer}`);
  return Object.fromEntries(fieldsOf(dereference(document, pointer) as Schema, "", true));
}

function fieldsOf(schema: Schema, pointer: string, isRequired: boolean): [string, Constraints][] {
  if (schema.oneOf) return toVariants(schema.oneOf, pointer);
  const { properties = {}, required = [] } = schema;
  const inner = Object.entries(properties).flatMap(([name, property]) =>
    fieldsOf(property, pointer + step(name), isRequired && required.includes(name)),
  );
  return inner.length > 0 ? inner : [[pointer, toConstraints(schema, isRequired)]];
}

function toConstraints(schema: Schema, required: boolean): Constraints {
  const hints = Object.entries(schema)
    .filter(([keyword]) => limitsValues(keyword, schema))
    .map(([keyword, value]) => KEYWORDS[keyword]?.hint?.(value, schema));
  const hint = hints.filter(Boolean).join(", ") || undefined;
  return { type: schema.type ?? "string", required, enum: schema.enum, hint, pattern: toPattern(schema) };
}

/** The constraints as a `pattern` for the browser, which counts characters as the contract does: in code points. */
function toPattern(schema: Schema): string | undefined {
  const { type, minLength = 0, maxLength, pattern, "x-fraction-digits": fractionDigits } = schema;
  if (type === "integer") return "\\d+";
  if (type === "number") return `\\d+(\\.\\d{1,${fractionDigits ?? 2}})?`;
  if (maxLength === undefined) return undefined;
  const whole = pattern && !pattern.includes("\\x00") ? `(?=${pattern.replace(/^\^/, "")})` : "";
  return `${whole}[\\s\\S]{${minLength},${maxLength}}`;
}

/** Each variant has its own value of the field that selects it, and its own strings in the list next to it. */
function toVariants(variants: readonly Schema[], pointer: string): [string, Constraints][] {
  const lists = variants.map(({ properties: { type, details } = {} }): [tag: string, choices: string[]] => [
    type?.const ?? "",
    details?.items?.enum ?? [],
  ]);
  const tags = lists.map(([tag]) => tag);
  return [
    [`${pointer}/type`, { type: "string", required: true, enum: tags }],
    [`${pointer}/details`, { type: "array", required: false, choices: Object.fromEntries(lists) }],
  ];
}
