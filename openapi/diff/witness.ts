import * as cases from "./cases.ts";
import { type Case, least, most, valuesOf } from "./cases.ts";
import { all, type Formula, TYPES } from "./formula.ts";
import { casesOf, difference, fewValues, newProof, type Proof } from "./proof.ts";
import type { Schema } from "./schema.ts";
import { holds } from "./values.ts";

/** How many values of one question, and of one of its parts, are tried. */
const TRIED = 600;
const PARTS = 4;
const DEPTH = 6;
const TEXTS = "2026-01-31T09:30:00Z 2026-01-31 09:30:00Z P1D a@example.com https://example.com/a /a example.com 192.0.2.1 2001:db8::1 3f0c8d5e-7b1a-4c62-9d84-0a6e5f2b1c19 a A 1 A1 aaa".split(" "); // biome-ignore format: one line

/** A value that is valid for the first schema and not for the second; undefined when none is found by trying. */
export function findWitness(valid: Schema, invalid: Schema): { readonly is: unknown } | undefined {
  const [value] = samplesOf(newProof(), difference(valid, invalid), 1, 0);
  return value === undefined ? undefined : { is: value };
}

/** Some values that fulfil a formula, made from the cases in which that may be. */
function samplesOf(proof: Proof, formula: Formula, count: number, depth: number): unknown[] {
  const found = new Map<string, unknown>();
  let tried = 0;
  for (const type of TYPES)
    for (const own of casesOf(proof, type, formula))
      for (const value of guessesOf(proof, own, depth)) {
        if (holds(formula, value) === true) found.set(JSON.stringify(value), value);
        tried += 1;
        if (found.size >= count || tried > TRIED) return [...found.values()];
      }
  return [...found.values()];
}

function guessesOf(proof: Proof, own: Case, depth: number): Iterable<unknown> {
  const few = fewValues(own);
  if (few) return few;
  if (own.type === "object") return depth < DEPTH ? objects(proof, own, depth + 1) : [];
  if (own.type === "array") return depth < DEPTH ? lists(proof, own, depth + 1) : [];
  if (own.type === "string") {
    const lengths = [least(own, "minLength"), most(own, "maxLength")].filter((length) => length < 3000);
    const plain = valuesOf<string>(own, "pattern").map(plainOf);
    return [...lengths.map((length) => "a".repeat(length)), ...plain, ...TEXTS];
  }
  const limits = valuesOf<number>(
    own,
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
  );
  return [0, ...limits, 1000].flatMap((one) => [
    one,
    one + 1,
    one - 1,
    one + 0.5,
    one - 0.5,
    one + 0.125,
    one + 0.0001,
  ]);
}

function objects(proof: Proof, own: Case, depth: number): unknown[] {
  const { names } = cases.mentioned(own);
  const needed = cases.presentNames(own);
  const others = [...names, cases.otherName(own), '\0{"count":-1}', '\0{"count":-2}'].filter((name) => !needed.includes(name));
  const present = [...needed, ...others.slice(0, Math.max(0, least(own, "minProperties") - needed.length))];
  return variants(present.map((name) => samplesOf(proof, cases.partsOfMember(own, name), PARTS, depth))).map(
    (values) =>
      Object.fromEntries(
        values.map((value, index) => [wordFor(proof, own, present[index] ?? "", index), value]),
      ),
  );
}

/** A name that may be there in place of one that stands for others. */
function wordFor(proof: Proof, own: Case, name: string, index: number): string {
  if (!name.startsWith("\0")) return name;
  const said = cases.partsOfName(own, name);
  const plain = plainOf(JSON.parse(name.slice(1)).only ?? "y");
  const words = [`${plain}${index}`, plain, ...samplesOf(proof, said, PARTS, DEPTH).map(String)];
  const { names } = cases.mentioned(own);
  return words.find((word) => !names.includes(word) && holds(said, word) === true) ?? `y${index}`;
}
/** A pattern without its operators, which often matches it. */
const plainOf = (pattern: string) => pattern.replaceAll(/[\^$*+?\\()[\]{}|]/g, "");

function lists(proof: Proof, own: Case, depth: number): unknown[] {
  const length = Math.min(cases.leastItems(own), 200);
  const counts = cases.countsOf(own);
  const columns = Array.from({ length }, (_, index) => {
    const contained = counts.map(({ part, min }) => (index < min ? part : true));
    return samplesOf(
      proof,
      all([cases.partsOfItem(own, Math.min(index, cases.furtherItem(own))), ...contained]),
      PARTS,
      depth,
    );
  });
  return variants(columns);
}

/** The first of each list, and then another one in one place. */
function variants(columns: readonly (readonly unknown[])[]): unknown[][] {
  if (columns.some((column) => column.length === 0)) return [];
  const simple = columns.map(([first]) => first);
  return [
    simple,
    ...columns.flatMap((column, index) => column.slice(1).map((value) => simple.with(index, value))),
  ];
}
