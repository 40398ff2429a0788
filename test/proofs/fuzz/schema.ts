import type { KeywordDefinition } from "ajv/dist/2020.js";
import { find, follow, isNode, isReference, members, type Node } from "../../../openapi/document/node.ts";
import { createCompiler } from "../../../openapi/document/schemas.ts";

/** The part of JSON Schema that request bodies of this project use; all other keywords only inform readers. */
export type Schema = {
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly "x-fraction-digits"?: number;
  readonly items?: Schema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly minProperties?: number;
  readonly additionalProperties?: boolean;
  readonly oneOf?: readonly Schema[];
};

const KNOWN = new Set(
  [
    "type const enum minLength maxLength pattern format minimum maximum exclusiveMinimum items minItems maxItems uniqueItems",
    "properties required minProperties additionalProperties oneOf title description deprecated default discriminator",
  ].flatMap((names) => names.split(" ")),
);

/** The part of a document at a JSON pointer, with every reference in it followed. Schemas here are not recursive. */
export function readSchema(document: Node, pointer: string): Schema {
  return dereference(document, find(document, pointer)[1]) as Schema;
}

function dereference(document: Node, part: unknown): unknown {
  if (Array.isArray(part)) return part.map((member) => dereference(document, member));
  if (!isNode(part)) return part;
  if (isReference(part)) return dereference(document, follow(document, part));
  return Object.fromEntries(members(part).map(([name, member]) => [name, dereference(document, member)]));
}

/**
 * Throws for a keyword that the generators ignore: "valid" values would not be valid, and the new keyword would stay
 * untested unnoticed.
 */
export function refuseUnknownKeywords(schema: Schema): void {
  for (const keyword of Object.keys(schema)) {
    if (KNOWN.has(keyword) || keyword.startsWith("x-")) continue;
    throw new Error(`fuzzing has no values for the keyword "${keyword}"`);
  }
}

/** Whether a schema allows a value, according to a validator that is independent of the generators. */
export function createAllows(schema: Schema): (value: unknown) => boolean {
  const keyword: KeywordDefinition = {
    keyword: "x-fraction-digits",
    type: "number",
    validate: (digits: number, value: number) =>
      new RegExp(`^-?\\d+(\\.\\d{1,${digits}})?$`).test(String(value)),
  };
  const isValid = createCompiler({}, { keywords: [keyword] })(schema);
  return (value) => isValid(value) && isWellFormed(value);
}

/**
 * Whether no string in a value has a lone surrogate: the document states this in words, because no portable pattern can
 * express it (D15).
 */
function isWellFormed(value: unknown): boolean {
  if (typeof value === "string") return value.isWellFormed();
  if (typeof value !== "object" || value === null) return true;
  return Object.values(value).every(isWellFormed);
}
