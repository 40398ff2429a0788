import fc, { type Arbitrary } from "fast-check";
import { KEYWORDS } from "../../../openapi/document/keywords.ts";
import type { Node } from "../../../openapi/document/node.ts";

/** The keywords that decide how a value is generated. References have been followed. */
export type Schema = Node & {
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
  readonly oneOf?: readonly Schema[];
};

/** When shrinking, a rare choice is replaced by the usual one if the error remains. */
const SHRINK_TO_FIRST = { withCrossShrink: true };

/** Values that a schema allows. Throws for a keyword that the table of keywords has no values for. */
export function toValid(schema: Schema): Arbitrary<unknown> {
  const unknown = Object.keys(schema).find((keyword) => KEYWORDS[keyword]?.limits === undefined);
  if (unknown !== undefined) throw new Error(`fuzzing has no values for the keyword "${unknown}"`);
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum) return fc.constantFrom(...schema.enum);
  if (schema.oneOf) return fc.oneof(...schema.oneOf.map(toValid));
  switch (schema.type) {
    case "string":
      return toText(schema);
    case "boolean":
      return fc.boolean();
    case "integer":
      return fc.integer({ min: schema.minimum ?? -1000, max: schema.maximum ?? 1000 });
    case "number":
      return toNumber(schema);
    case "array":
      return toArray(schema);
    case "object":
      return toObject(schema);
    default:
      throw new Error(`fuzzing has no values for the type "${schema.type}"`);
  }
}

/** A string with a format is one of a few fixed ones, because a schema can't describe a format. */
const FORMATS: Readonly<Record<string, Arbitrary<string>>> = {
  // Nothing is ever sent to these addresses: their merchant has no events.
  uri: fc
    .tuple(
      fc.constantFrom(
        "https://merchant.example",
        "http://127.0.0.1:9",
        "https://HOOKS.merchant.example:8443",
      ),
      fc.webPath(),
      fc.webQueryParameters(),
    )
    .map(([origin, path, query]) => `${origin}${path || "/"}?${query}`.slice(0, 2048)),
  "date-time": fc
    .date({ min: new Date("1990-01-01"), max: new Date("2090-01-01"), noInvalidDate: true })
    .map((date) => date.toISOString()),
};

/** Long strings are rare: they take time, and most errors are found by short ones and at the bounds. */
const USUAL_LENGTH = 20;

function toText({ minLength = 0, maxLength = 1000, pattern, format }: Schema): Arbitrary<string> {
  if (format !== undefined) {
    const known = FORMATS[format];
    if (!known) throw new Error(`fuzzing has no values for the format "${format}"`);
    return known;
  }
  const unit = pattern === undefined ? "binary" : fc.constantFrom(...charactersOf(pattern));
  const usual = Math.max(minLength, Math.min(maxLength, USUAL_LENGTH));
  return fc.oneof(
    SHRINK_TO_FIRST,
    { weight: 8, arbitrary: fc.string({ unit, minLength, maxLength: usual, size: "max" }) },
    { weight: 1, arbitrary: fc.string({ unit, minLength, maxLength, size: "max" }) },
    { weight: 1, arbitrary: fc.string({ unit, minLength: maxLength, maxLength, size: "max" }) },
  );
}

/** Candidates for the characters of a string with a pattern. */
const ALPHABET = [
  ...Array.from({ length: 0x7f }, (_, code) => String.fromCharCode(code)),
  ...["\u0080", "é", "ß", "\u2028", "\uFEFF", "字", "😀", "\u{10FFFF}"],
];

/** The characters that a pattern like `^[…]*$` allows in any number. */
function charactersOf(pattern: string): readonly string[] {
  if (!/^\^\[.*\]\*\$$/s.test(pattern)) throw new Error(`fuzzing has no values for the pattern ${pattern}`);
  const expression = new RegExp(pattern, "u");
  return ALPHABET.filter((character) => expression.test(character.repeat(3)));
}

function toNumber(schema: Schema): Arbitrary<number> {
  const scale = 10 ** (schema["x-fraction-digits"] ?? 0);
  const least = schema.exclusiveMinimum ?? schema.minimum ?? 0;
  const max = Math.round((schema.maximum ?? 1e9) * scale);
  const min = Math.round(least * scale) + (schema.exclusiveMinimum === undefined ? 0 : 1);
  // Small amounts first, because a large one leaves little for the next.
  return fc
    .oneof(
      SHRINK_TO_FIRST,
      { weight: 6, arbitrary: fc.integer({ min, max: min + 5000 }) },
      { weight: 3, arbitrary: fc.maxSafeNat().map((any) => min + (any % (max - min + 1))) },
      { weight: 1, arbitrary: fc.constantFrom(min, max) },
    )
    .map((units) => units / scale);
}

function toArray({ items, minItems = 0, maxItems = 10, uniqueItems = false }: Schema): Arbitrary<unknown[]> {
  if (!items) throw new Error("fuzzing has no values for a list of anything");
  const limits = { minLength: minItems, maxLength: maxItems };
  if (uniqueItems) return fc.uniqueArray(toValid(items), limits);
  return fc.oneof(
    SHRINK_TO_FIRST,
    { weight: 8, arbitrary: fc.array(toValid(items), limits) },
    { weight: 1, arbitrary: fc.array(toValid(items), { ...limits, minLength: maxItems }) },
  );
}

function toObject({ properties = {}, required = [], minProperties = 0 }: Schema): Arbitrary<Node> {
  const fields = Object.fromEntries(Object.entries(properties).map(([name, part]) => [name, toValid(part)]));
  return fc
    .record(fields, { requiredKeys: [...required], noNullPrototype: true })
    .filter((value) => Object.keys(value).length >= minProperties);
}
