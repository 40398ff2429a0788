/** Finds a value that one schema allows and another doesn't, by trying. */
import { type Case, casesOf, countsOf, difference, fewValues, furtherIndex, isImpossible, least, leastSize, most, presentKeys, saidOf, settings } from "./containment.ts"; // biome-ignore format: one line
import type { Schema } from "./documents.ts";
import { all, type Formula, fulfils, not } from "./formula.ts";
import { TYPES } from "./json-pointer.ts";

/** The most values that are tried for a question, and for each part of a value. */
const TRIED = { all: 500, part: 60 };
const DEPTH = 6;
const BOUNDS = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"];
const TEXTS = "y 2026-01-31T09:30:00Z 2026-01-31 09:30:00Z P1D a@example.com https://example.com/a /a example.com 192.0.2.1 2001:db8::1 3f0c8d5e-7b1a-4c62-9d84-0a6e5f2b1c19 A 1 A1 aaa".split(" "); // biome-ignore format: one line

type Example = { readonly is: unknown };
let left = 0;
/** A value that is valid for the first schema and not for the second; undefined when none is found by trying. */
export function findExample(valid: Schema, invalid: Schema): Example | undefined {
  left = TRIED.all;
  return exampleOf(difference(valid, invalid), 0);
}

/** A value that fulfils a formula, made from the cases in which that may be. */
function exampleOf(formula: Formula, depth: number): Example | undefined {
  const end = Math.max(left - TRIED.part, 0);
  for (const type of TYPES)
    for (const own of casesOf(isImpossible, type, formula))
      for (const is of guessesOf(own, depth)) {
        if (isImpossible(all([fulfils({ const: is }), not(formula)]))) return { is };
        left -= 1;
        if (left < end) return undefined;
      }
  return undefined;
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

/** A list or an object with the parts that it has to have. */
function wholes(own: Case, depth: number): unknown[] {
  const size = Math.min(leastSize(own), 1000);
  const isList = own.type === "array";
  const others = [...Array(size).keys()].map((index) => (isList ? index : `y${index}`));
  const keys = isList ? others : [...presentKeys(own), ...others].slice(0, size);
  const parts = keys.flatMap((key, index) => {
    const contained = countsOf(own).map(({ formula, min }) => index >= min || formula);
    const place = typeof key === "number" ? Math.min(key, furtherIndex(own)) : key;
    const value = exampleOf(all([...saidOf(own, place), ...contained]), depth);
    const name = typeof key === "object" ? exampleOf(key, DEPTH)?.is : key;
    return value ? [[name, value.is]] : [];
  });
  if (parts.length < keys.length) return [];
  return [isList ? parts.map(([, value]) => value) : Object.fromEntries(parts)];
}
