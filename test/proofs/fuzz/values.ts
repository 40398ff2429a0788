import fc, { type Arbitrary } from "fast-check";
import { shorten } from "../../../openapi/document/comparisons.ts";
import { KEYWORDS, type Keyword, limitsValues } from "../../../openapi/document/keywords.ts";
import type { Node } from "../../../openapi/document/node.ts";
import { createCompiler } from "../../../openapi/document/schemas.ts";

/** The keywords that the generators read by name. References have been followed. */
export type Schema = Node & {
  readonly type?: string | readonly string[];
  readonly pattern?: string;
  readonly format?: string;
  readonly "x-fraction-digits"?: number;
  readonly items?: Schema;
  readonly uniqueItems?: boolean;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly oneOf?: readonly Schema[];
};

/** The keywords that the generators obey, in addition to all bounds. For any other, values are taken from the table. */
const GENERATED = [
  ...["type", "pattern", "x-fraction-digits", "items", "uniqueItems", "oneOf"],
  ...["properties", "required", "additionalProperties", "unevaluatedProperties"],
];

/** When shrinking, a rare choice is replaced by the usual one if the error remains. */
const SHRINK_TO_FIRST = { withCrossShrink: true };

/**
 * Values that a schema allows. Throws for a keyword that neither a generator nor the table of keywords obeys, and otherwise
 * with the first value that the schema does not allow.
 */
export function toValid(schema: Schema): Arbitrary<unknown> {
  const allows = createCompiler({})(schema);
  return generate(schema).map((value) => {
    if (!allows(value)) throw new Error(`fuzzing made ${shorten(value)}, against ${shorten(schema)}`);
    return value;
  });
}

function generate(schema: Schema): Arbitrary<unknown> {
  const limits = Object.keys(schema).filter((keyword) => limitsValues(keyword, schema) ?? true);
  const others = limits.filter((keyword) => !isGenerated(keyword, schema));
  if (others.length > 0) return toObeying(schema, others);
  if (schema.oneOf) return fc.oneof(...schema.oneOf.map(generate));
  const types = [schema.type].flat().map((type = "") => {
    const toValues = BY_TYPE[type];
    if (!toValues) throw new Error(`fuzzing has no values for the type "${type}"`);
    return toValues({ ...schema, type });
  });
  return fc.oneof(...types);
}

function isGenerated(keyword: string, { format = "" }: Schema): boolean {
  if (keyword === "format") return format in FORMATS;
  return GENERATED.includes(keyword) || KEYWORDS[keyword]?.bound !== undefined;
}

/** Values of the table for some keywords, derived from values that obey the bounds beside them. */
function toObeying(schema: Schema, keywords: readonly string[]): Arbitrary<unknown> {
  const unknown = keywords.find((keyword) => !KEYWORDS[keyword]?.obeying);
  if (unknown !== undefined) throw new Error(`fuzzing has no values for the keyword "${unknown}"`);
  // No validator knows them, so nothing could find the values that obey several.
  const own = Object.keys(schema).filter((name) => name.startsWith("x-") && limitsValues(name, schema));
  if (own.length > 1) throw new Error(`fuzzing has no values for ${own.join(" and ")} together`);

  const allows = createCompiler({})(schema);
  const { type, ...rest } = schema;
  const bounds = Object.entries(rest).filter(([keyword]) => KEYWORDS[keyword]?.bound);
  const current =
    type === undefined ? fc.constant(undefined) : generate({ type, ...Object.fromEntries(bounds) });
  const sources = keywords.filter((keyword) => own.length === 0 || own.includes(keyword));
  return fc.tuple(current, fc.nat()).map(([current, choice]) => {
    const texts = sources.flatMap((keyword) => {
      return KEYWORDS[keyword]?.obeying?.({ value: schema[keyword], schema, current, others: [] }) ?? [];
    });
    const values = texts.map((text) => JSON.parse(text)).filter((value) => allows(value));
    if (values.length === 0) throw new Error(`fuzzing has no values for ${shorten(schema)}`);
    return values[choice % values.length];
  });
}

const BY_TYPE: Readonly<Record<string, (schema: Schema) => Arbitrary<unknown>>> = {
  ...{ string: toText, integer: toNumber, number: toNumber, array: toArray, object: toObject },
  ...{ boolean: () => fc.boolean(), null: () => fc.constant(null) },
};

const INSIDE = { least: 0, above: 1, most: 0, below: -1 };

/** The least and the most that the bounds of a schema allow, in steps of `1 / scale`; the usual ones where there are none. */
function rangeOf(
  schema: Schema,
  kind: Keyword["limits"],
  usual: readonly [least: number, most: number],
  scale = 1,
): [least: number, most: number] {
  const of = (...sides: readonly Keyword["bound"][]) =>
    Object.entries(schema).flatMap(([keyword, value]) => {
      const { limits, bound } = KEYWORDS[keyword] ?? {};
      if (limits !== kind || !bound || !sides.includes(bound)) return [];
      return [Math.round(Number(value) * scale) + INSIDE[bound]];
    });
  const [least, most] = [Math.max(...of("least", "above")), Math.min(...of("most", "below"))];
  return [
    Number.isFinite(least) ? least : Math.min(usual[0], most),
    Number.isFinite(most) ? most : Math.max(usual[1], least),
  ];
}

/** Formats of which the generators make more values than the table has samples. */
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

function toText(schema: Schema): Arbitrary<string> {
  const { pattern, format = "" } = schema;
  const known = FORMATS[format];
  if (known) return known;
  const [minLength, maxLength] = rangeOf(schema, "text", [0, 1000]);
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
  const scale = schema.type === "integer" ? 1 : 10 ** (schema["x-fraction-digits"] ?? 0);
  const [min, max] = rangeOf(schema, "number", [-1000 * scale, 1000 * scale], scale);
  // Small amounts first, because a large one leaves little for the next.
  return fc
    .oneof(
      SHRINK_TO_FIRST,
      { weight: 6, arbitrary: fc.integer({ min, max: Math.min(max, min + 5000) }) },
      { weight: 3, arbitrary: fc.maxSafeNat().map((any) => min + (any % (max - min + 1))) },
      { weight: 1, arbitrary: fc.constantFrom(min, max) },
    )
    .map((units) => units / scale);
}

function toArray(schema: Schema): Arbitrary<unknown[]> {
  if (!schema.items) throw new Error("fuzzing has no values for a list of anything");
  const [minLength, maxLength] = rangeOf(schema, "list", [0, 10]);
  const items = generate(schema.items);
  if (schema.uniqueItems) return fc.uniqueArray(items, { minLength, maxLength });
  return fc.oneof(
    SHRINK_TO_FIRST,
    { weight: 8, arbitrary: fc.array(items, { minLength, maxLength }) },
    { weight: 1, arbitrary: fc.array(items, { minLength: maxLength, maxLength }) },
  );
}

function toObject(schema: Schema): Arbitrary<Node> {
  const { properties = {}, required = [] } = schema;
  const fields = Object.fromEntries(Object.entries(properties).map(([name, part]) => [name, generate(part)]));
  const [least, most] = rangeOf(schema, "object", [0, Number.POSITIVE_INFINITY]);
  if (least > Object.keys(fields).length || most < required.length)
    throw new Error(`fuzzing has no values for ${shorten(schema)}`);
  return fc
    .record(fields, { requiredKeys: [...required], noNullPrototype: true })
    .filter((value) => Object.keys(value).length >= least && Object.keys(value).length <= most);
}
