/**
 * A logic for values of one JSON type. An example, which proves that `{maxLength: 5}` allows all that `{maxLength: 3}` does:
 *
 * 1. A value that breaks somebody would fulfil `all(schema {maxLength: 3}, not(expected {maxLength: 5}))`.
 * 2. Of a string, `keywords.ts` says `maxLength 3` for the first, and `minLength 6` for the second, as the opposite of `maxLength 5`.
 *    No string has both, so that `containment.ts` drops this case. Numbers have no length: the second is `false` for them.
 * 3. No case is left, so that the formula is refuted. The other way round, `maxLength 5` and `minLength 4` contradict nothing, and
 *    "aaaa" fulfils both: it is an example of what breaks.
 */
import { isNode } from "./json-pointer.ts";
import { idOf, textOf, unify } from "./read-schema.ts";

/**
 * True, false, or a term: a keyword with its value in `of`, such as `minLength` 3; `all`, `any` or `not` of its `parts`; `schema`, for
 * which the value is valid; or what it says of the value's own parts: `has` one with a key, the `part` with a key is so if there is
 * one, and so are all `parts` whose keys are so. A key may be a formula, for a name that nothing mentions.
 *
 * The schema that should allow the value is `expected`, and its declared fields are `expectedField` and, when invalid,
 * `unexpectedField`. The other schema `sendsDeclared` fields, and no others, unless it says that it may.
 */
export type Formula = boolean | Term;
export type Term = { readonly is: string; readonly of?: unknown; readonly parts: readonly Formula[] };
/** Whether no value fulfils a formula. */
export type Refutes = (formula: Formula) => boolean;
export type Key = string | number | Term;

export const term = (is: string, of?: unknown, ...parts: Formula[]): Term =>
  unify(
    { is, of, parts },
    `${is} ${textOf(of)} ${parts.map((one) => (typeof one === "object" ? idOf(one) : one))}`,
  );
export const all = (parts: readonly Formula[]) => joined("all", parts, true);
export const any = (parts: readonly Formula[]) => joined("any", parts, false);
function joined(is: string, parts: readonly Formula[], neutral: boolean): Formula {
  if (parts.includes(!neutral)) return !neutral;
  const flat = parts.flatMap((one) => (typeof one === "object" && one.is === is ? one.parts : [one]));
  const own = [...new Set(flat)].filter((one) => one !== neutral).toSorted((a, b) => idOf(a) - idOf(b));
  return own.length < 2 ? (own[0] ?? neutral) : term(is, undefined, ...own);
}

export const fulfils = (schema: unknown = true, isExpected = false): Formula =>
  isNode(schema) ? term(isExpected ? "expected" : "schema", unify(schema)) : schema !== false;
export const values = (list: readonly unknown[]): Formula => list.length > 0 && term("values", list);
export const has = (key: Key) => (typeof key === "number" ? term("minSize", key + 1) : term("has", key));
export const part = (key: Key, formula: Formula) => term("part", key, formula);
/** All parts whose keys fulfil a formula. */
export const parts = (keys: Formula, formula: Formula) =>
  formula === true || keys === false ? true : term("parts", undefined, keys, formula);
export type Count = { readonly min: number; readonly max: number };
export const counted = (formula: Formula, min: number, max = Number.POSITIVE_INFINITY) =>
  term("count", { min, max }, formula);

/** What holds when a formula doesn't. */
export function not(formula: Formula): Formula {
  if (typeof formula === "boolean") return !formula;
  const opposite =
    opposites.get(formula) ?? OPPOSITES[formula.is]?.(formula as Opposed) ?? term("not", undefined, formula);
  opposites.set(formula, opposite);
  return opposite;
}
const opposites = new Map<Term, Formula>();

type Opposed = Term & { readonly of: never; readonly parts: [Formula] };
const bound =
  (keyword: string, by = 0) =>
  ({ of }: { readonly of: number }) =>
    term(keyword, of + by);
const OPPOSITES: Readonly<Record<string, (opposed: Opposed) => Formula>> = {
  not: ({ parts: [formula] }) => formula,
  all: ({ parts: list }) => any(list.map(not)),
  any: ({ parts: list }) => all(list.map(not)),
  minimum: bound("exclusiveMaximum"),
  maximum: bound("exclusiveMinimum"),
  exclusiveMinimum: bound("maximum"),
  exclusiveMaximum: bound("minimum"),
  minLength: bound("maxLength", -1),
  maxLength: bound("minLength", 1),
  minSize: bound("maxSize", -1),
  maxSize: bound("minSize", 1),
  has: ({ of }) => part(of, false),
  part: ({ of, parts: [formula] }) =>
    formula === false ? has(of) : all([has(of), part(of, not(formula)), formula !== true]),
  expectedField: ({ of, parts: [formula] }) => formula !== true && term("unexpectedField", of, formula),
  count: ({ of: { min, max }, parts: [formula] }: Opposed & { readonly of: Count }) =>
    any([min > 0 && counted(formula, 0, min - 1), max < Infinity && counted(formula, max + 1)]),
};
