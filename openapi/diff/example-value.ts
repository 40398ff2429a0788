/** Finds a value that one schema allows and another doesn't, by trying. */
import { type Case, casesOf, countsOf, difference, fewValues, furtherIndex, isImpossible, least, leastSize, most, presentKeys, saidOf, settings } from "./containment.ts"; // biome-ignore format: one line
import type { Schema } from "./documents.ts";
import { all, type Formula, fulfils, not, TYPES } from "./formula.ts";

/** How many values of one question, and of one of its parts, are tried. */
const TRIED = 60;
const PARTS = 4;
const DEPTH = 6;
const BOUNDS = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"];
const TEXTS = "y 2026-01-31T09:30:00Z 2026-01-31 09:30:00Z P1D a@example.com https://example.com/a /a example.com 192.0.2.1 2001:db8::1 3f0c8d5e-7b1a-4c62-9d84-0a6e5f2b1c19 A 1 A1 aaa".split(" "); // biome-ignore format: one line

/** A value that is valid for the first schema and not for the second; undefined when none is found by trying. */
export function findExample(valid: Schema, invalid: Schema): { readonly is: unknown } | undefined {
  const [value] = samplesOf(difference(valid, invalid), 1, 0);
  return value === undefined ? undefined : { is: value };
}

/** Some values that fulfil a formula, made from the cases in which that may be. */
function samplesOf(formula: Formula, count: number, depth: number): unknown[] {
  const found = new Map<string, unknown>();
  let tried = 0;
  for (const type of TYPES)
    for (const own of casesOf(isImpossible, type, formula))
      for (const value of guessesOf(own, depth)) {
        const isOne = isImpossible(all([fulfils({ const: value }), not(formula)]));
        if (isOne) found.set(JSON.stringify(value), value);
        tried += 1;
        if (found.size >= count || tried > TRIED) return [...found.values()];
      }
  return [...found.values()];
}

function guessesOf(own: Case, depth: number): unknown[] {
  const few = fewValues(own);
  if (few) return few;
  if (own.type === "object" || own.type === "array") return depth < DEPTH ? wholes(own, depth + 1) : [];
  if (own.type === "string") {
    const lengths = [least(own, "minLength"), most(own, "maxLength")].filter((length) => length < 3000);
    // A pattern without its operators often matches it.
    const plain = settings<string>(own, "pattern").map((one) => one.replaceAll(/[\^$*+?\\()[\]{}|]/g, ""));
    return [...plain, ...plain.map((one) => `${one}1`), ...lengths.map((one) => "a".repeat(one)), ...TEXTS];
  }
  const limits = settings<number>(own, ...BOUNDS);
  return [0, ...limits, 1000].flatMap((one) => [0, 1, -1, 0.5, -0.5, 0.125, 0.0001].map((by) => one + by));
}

/** Lists and objects with the parts that they have to have, and then with another value in one place. */
function wholes(own: Case, depth: number): unknown[] {
  const size = Math.min(leastSize(own), 200);
  const isList = own.type === "array";
  const others = [...Array(size).keys()].map((index) => (isList ? index : `y${index}`));
  const keys = isList ? others : [...presentKeys(own), ...others].slice(0, size);
  const columns = keys.map((key, index) => {
    const contained = countsOf(own).map(({ formula, min }) => index >= min || formula);
    const place = typeof key === "number" ? Math.min(key, furtherIndex(own)) : key;
    return samplesOf(all([...saidOf(own, place), ...contained]), PARTS, depth);
  });
  if (columns.some((column) => column.length === 0)) return [];
  const simple = columns.map(([first]) => first);
  const varied = columns.flatMap((column, at) => column.slice(1).map((value) => simple.with(at, value)));
  if (isList) return [simple, ...varied];
  const names = keys.map((key) => (typeof key === "object" ? samplesOf(key, 1, DEPTH)[0] : key));
  return [simple, ...varied].map((list) => Object.fromEntries(list.map((value, at) => [names[at], value])));
}
