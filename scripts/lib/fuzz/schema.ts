import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";

/** A JSON Schema as far as request bodies of this project use it; what else stands in one is a note to readers. */
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
  readonly additionalProperties?: boolean;
  readonly oneOf?: readonly Schema[];
};

const KNOWN = new Set([
  ...[
    "type",
    "const",
    "enum",
    "minLength",
    "maxLength",
    "pattern",
    "format",
    "minimum",
    "maximum",
    "exclusiveMinimum",
  ],
  ...[
    "items",
    "minItems",
    "maxItems",
    "uniqueItems",
    "properties",
    "required",
    "additionalProperties",
    "oneOf",
  ],
  ...["title", "description", "deprecated", "default", "discriminator"],
]);

/** The part of a document at a JSON Pointer, with every reference in it followed. Schemas here are not recursive. */
export function readSchema(document: unknown, pointer: string): Schema {
  return followed(document, locate(document, pointer)) as Schema;
}

function locate(document: unknown, pointer: string): unknown {
  const names = pointer.split("/").slice(1);
  return names
    .map((name) => name.replaceAll("~1", "/").replaceAll("~0", "~"))
    .reduce<unknown>((holder, name) => (holder as Record<string, unknown> | undefined)?.[name], document);
}

function followed(document: unknown, part: unknown): unknown {
  if (Array.isArray(part)) return part.map((member) => followed(document, member));
  if (typeof part !== "object" || part === null) return part;
  if ("$ref" in part) return followed(document, locate(document, String(part.$ref).slice(1)));
  return Object.fromEntries(Object.entries(part).map(([name, value]) => [name, followed(document, value)]));
}

/**
 * Throws at a keyword that values are not made by: values that are called valid would not be, and nobody would see that
 * the new keyword is not tried.
 */
export function refuseUnknownKeywords(schema: Schema): void {
  for (const keyword of Object.keys(schema)) {
    if (KNOWN.has(keyword) || keyword.startsWith("x-")) continue;
    throw new Error(`fuzzing has no values for the keyword "${keyword}"`);
  }
}

/** Whether a schema allows a value, by a validator: what makes the values has no say in it. */
export function createAllows(schema: Schema): (value: unknown) => boolean {
  const ajv = new Ajv2020({ strict: false });
  addFormats.default(ajv);
  ajv.addKeyword({
    keyword: "x-fraction-digits",
    type: "number",
    validate: (digits: number, value: number) =>
      new RegExp(`^-?\\d+(\\.\\d{1,${digits}})?$`).test(String(value)),
  });
  return ajv.compile(schema);
}
