import fc, { type Arbitrary } from "fast-check";
import type { Schema } from "./schema.ts";
import { toValid } from "./valid-values.ts";

/** A value of each type; those of the schema's own type are left out. */
const SAMPLES: Readonly<Record<string, readonly unknown[]>> = {
  null: [null],
  boolean: [true, false],
  number: [0, 1, -1, 0.5, 1e21],
  string: ["", "x", "1", "null"],
  array: [[], [1], [[]]],
  object: [{}, { a: 1 }],
};

const NAUGHTY = ["\0", "a\0b", "\uD800", "x\uDFFFy", "\u{1F600}!", "%00", "'; --", "../..", "a\r\nb", " "];

/**
 * Values that a schema refuses, each invalid in one respect. The caller filters out the few that are valid nevertheless, such
 * as one that another branch allows.
 */
export function toInvalid(schema: Schema): Arbitrary<unknown> {
  const wrong = [toWrongType(schema)];
  if (schema.oneOf) wrong.push(...schema.oneOf.map(toInvalid));
  else if (schema.const !== undefined || schema.enum)
    wrong.push(fc.string(), fc.constantFrom("usd", "EUR", "all"));
  else if (schema.type === "string") wrong.push(...toWrongTexts(schema));
  else if (schema.type === "number" || schema.type === "integer") wrong.push(...toWrongNumbers(schema));
  else if (schema.type === "array") wrong.push(...toWrongLists(schema));
  else if (schema.type === "object") wrong.push(...toWrongObjects(schema));
  return fc.oneof(...wrong);
}

function toWrongType({ type, oneOf }: Schema): Arbitrary<unknown> {
  const own = oneOf ? "object" : type === "integer" ? "number" : type;
  const others = Object.entries(SAMPLES).flatMap(([name, samples]) => (name === own ? [] : samples));
  return fc.constantFrom(...others);
}

function toWrongTexts({ minLength = 0, maxLength, pattern, format }: Schema): Arbitrary<unknown>[] {
  const wrong: Arbitrary<unknown>[] = [];
  if (minLength > 0) wrong.push(fc.constant(""));
  if (maxLength !== undefined) {
    wrong.push(fc.integer({ min: 1, max: 300 }).map((more) => "y".repeat(maxLength + more)));
  }
  if (pattern !== undefined) wrong.push(fc.constantFrom(...NAUGHTY));
  if (format !== undefined)
    wrong.push(fc.constantFrom("no", "//", "http://", "a b", "2026-13-01", ...NAUGHTY));
  return wrong;
}

function toWrongNumbers(schema: Schema): Arbitrary<unknown>[] {
  const { minimum, exclusiveMinimum, maximum, type } = schema;
  const wrong: Arbitrary<unknown>[] = [];
  const least = minimum ?? exclusiveMinimum;
  if (least !== undefined) {
    const maxExcluded = minimum !== undefined;
    wrong.push(fc.double({ max: least, maxExcluded, noNaN: true, noDefaultInfinity: true }));
  }
  if (maximum !== undefined) {
    wrong.push(fc.double({ min: maximum, minExcluded: true, noNaN: true, noDefaultInfinity: true }));
  }
  if (type === "integer") wrong.push(fc.integer().map((value) => value + 0.5));
  if (schema["x-fraction-digits"] !== undefined) {
    wrong.push(fc.integer({ min: 1, max: 1e9 }).map((units) => (units * 10 + 5) / 1000));
  }
  return wrong;
}

function toWrongLists({ items, minItems = 0, maxItems }: Schema): Arbitrary<unknown>[] {
  if (!items) return [];
  const wrong: Arbitrary<unknown>[] = [
    fc
      .tuple(fc.array(toValid(items), { maxLength: 5 }), toInvalid(items), fc.nat(5))
      .map(([list, bad, at]) => list.toSpliced(at, 0, bad)),
  ];
  if (minItems > 0) wrong.push(fc.constant([]));
  if (maxItems !== undefined) {
    wrong.push(fc.array(toValid(items), { minLength: maxItems + 1, maxLength: maxItems + 3 }));
  }
  return wrong;
}

function toWrongObjects(schema: Schema): Arbitrary<unknown>[] {
  const { properties = {}, required = [], minProperties = 0, additionalProperties } = schema;
  const whole = toValid(schema) as Arbitrary<Record<string, unknown>>;
  const wrong = Object.entries(properties).map(([name, part]) =>
    fc.tuple(whole, toInvalid(part)).map(([value, bad]): unknown => ({ ...value, [name]: bad })),
  );
  for (const name of required) wrong.push(whole.map(({ [name]: _, ...rest }) => rest));
  if (minProperties > 0) wrong.push(fc.constant({}));
  if (additionalProperties === false) {
    const names = fc.oneof(
      fc.string({ minLength: 1 }),
      fc.constantFrom("__proto__", "status", "constructor"),
    );
    wrong.push(
      fc
        .tuple(whole, names, fc.jsonValue({ maxDepth: 2 }))
        // Not by an assignment, which would set the prototype for `__proto__`.
        .map(([value, name, more]) => Object.fromEntries([...Object.entries(value), [name, more]])),
    );
  }
  return wrong;
}
