import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { KEYWORDS, type Keyword } from "../../../openapi/document/keywords.ts";
import { type Schema, toValid } from "../../proofs/fuzz/values.ts";

const sampleOf = (schema: Schema) => fc.sample(toValid(schema), { numRuns: 200, seed: 20_261_126 });
const members = { a: { const: 1 }, b: { const: 2 }, c: { const: 3 } };

// What a schema forbids makes the fuzzer itself throw, by Ajv, which knows all keywords but those of this contract.
test.each<[keyword: string, schema: Schema]>([
  ["exclusiveMinimum", { type: "integer", exclusiveMinimum: 5 }],
  ["exclusiveMaximum", { type: "integer", exclusiveMaximum: -5000 }],
  ["minimum", { type: "number", minimum: 7, maximum: 9 }],
  ["minLength", { type: "string", minLength: 30 }],
  ["maxItems", { type: "array", items: { const: 1 }, maxItems: 2 }],
  ["maxProperties", { type: "object", properties: members, minProperties: 1, maxProperties: 2 }],
  ["a format of the table", { type: "string", format: "duration" }],
  ["enum beside another", { enum: ["a", "abc"], maxLength: 1 }],
])("the fuzzer's valid values obey %s", (_keyword, schema) => {
  expect(sampleOf(schema)).toHaveLength(200);
});

test("the fuzzer's valid values obey x-fraction-digits", () => {
  const values = sampleOf({ type: "number", minimum: 0.01, "x-fraction-digits": 2 }) as number[];

  expect(values.filter((value) => value <= 0 || Number(value.toFixed(2)) !== value)).toEqual([]);
});

test("the fuzzer's valid values are of each type", () => {
  const values = sampleOf({ type: ["string", "null"], maxLength: 3 });

  expect(new Set(values.map((value) => typeof value))).toEqual(new Set(["string", "object"]));
});

test("a new keyword is obeyed by its entry in the table alone", () => {
  const obeying: Keyword["obeying"] = ({ current }) => {
    const below = 2 * Math.floor(Number(current) / 2);
    return [`${below}`, `${below + 2}`];
  };
  const entry: Keyword = { limits: "number", obeying };
  Object.assign(KEYWORDS, { "x-even": entry });
  onTestFinished(() => void Reflect.deleteProperty(KEYWORDS, "x-even"));

  const values = sampleOf({ type: "integer", minimum: 1, maximum: 99, "x-even": true }) as number[];

  expect(values.filter((value) => value % 2 !== 0 || value < 1 || value > 99)).toEqual([]);
  expect(new Set(values).size).toBeGreaterThan(10);
});

test.each<[keyword: string, schema: Schema]>([
  ["x-unheard-of", { type: "string", "x-unheard-of": 1 }],
  ["dependentRequired", { type: "object", properties: members, dependentRequired: { a: ["b"] } }],
  ["not", { type: "integer", not: { const: 1 } }],
  ["if", { type: "object", properties: members, if: { required: ["a"] } }],
])("a schema with %s, which nothing obeys, is refused by name", (keyword, schema) => {
  expect(() => toValid(schema)).toThrow(`"${keyword}"`);
});

test.each<[what: string, schema: Schema]>([
  ["a union with members beside it", { oneOf: [{ const: { b: 1 } }], required: ["a"] }],
  ["a format that excludes all samples", { type: "string", format: "duration", maxLength: 1 }],
])("a value that a schema does not allow is not sent: %s", (_what, schema) => {
  expect(() => sampleOf(schema)).toThrow("fuzzing");
});
