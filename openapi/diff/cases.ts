import type { Count, Formula, Term, Type } from "./formula.ts";
import { all, any, counted, has, not, part, term, translate } from "./formula.ts";

/** What is known of a value of a type: terms that hold and that don't, choices that are open, and parts that exist somewhere. */
export type Case = {
  readonly type: Type;
  readonly yes: Set<Term>;
  readonly no: Set<Term>;
  open: (readonly Formula[])[];
  readonly later: Term[];
};

const isSchema = ({ is }: Term) => is === "schema" || is === "goal";
/** Whether a term is among others; as the goal of a proof, a schema says the same. */
const includes = (terms: Set<Term>, one: Term) =>
  terms.has(one) || (isSchema(one) && terms.has(term(one.is === "goal" ? "schema" : "goal", one.of)));

export function isKnown({ yes, no }: Case, formula: Formula): boolean {
  if (typeof formula === "boolean") return formula;
  return formula.is === "not" ? includes(no, formula.parts[0] as Term) : includes(yes, formula);
}

/** Adds what a formula says to a case; false when it contradicts what is known. */
export function assume(own: Case, formula: Formula): boolean {
  if (typeof formula === "boolean") return formula;
  const { is, of, parts } = formula;
  if (is === "promise") return assume(own, part(of as string, parts[0] as Formula));
  if (is === "not") return deny(own, parts[0] as Term);
  if (is === "all") return parts.every((one) => assume(own, one));
  if (is === "any") return own.open.push(parts) > 0;
  if (includes(own.no, formula)) return false;
  if (includes(own.yes, formula)) return true;
  own.yes.add(formula);
  return !isSchema(formula) || assume(own, translate(formula, own.type, true));
}

function deny(own: Case, formula: Term): boolean {
  const { is, parts } = formula;
  if (is === "all") return own.open.push(parts.map(not)) > 0;
  if (is === "any") return parts.every((one) => assume(own, not(one)));
  if (includes(own.yes, formula)) return false;
  if (own.no.has(formula)) return true;
  own.no.add(formula);
  if (isSchema(formula)) return assume(own, not(translate(formula, own.type, false)));
  if (is === "parts") return own.later.push(formula) > 0;
  return assume(own, DENIED[is]?.(formula as Denied) ?? true);
}

type Denied = Term & { readonly of: never };
const bound =
  (keyword: string, by = 0) =>
  ({ of }: { readonly of: number }) =>
    term(keyword, of + by);
/** What holds when a term doesn't. */
const DENIED: Readonly<Record<string, (denied: Denied) => Formula>> = {
  minimum: bound("exclusiveMaximum"),
  maximum: bound("exclusiveMinimum"),
  exclusiveMinimum: bound("maximum"),
  exclusiveMaximum: bound("minimum"),
  minLength: bound("maxLength", -1),
  maxLength: bound("minLength", 1),
  minSize: bound("maxSize", -1),
  maxSize: bound("minSize", 1),
  uniqueItems: () => term("minSize", 2),
  has: ({ of }) => part(of, false),
  part: ({ of, parts: [formula = true] }) => all([has(of), part(of, not(formula)), formula !== true]),
  promise: ({ of, parts: [formula = true] }) => formula !== true && term("broken", of, formula),
  count: ({ of: { min, max }, parts: [formula = true] }: Term & { readonly of: Count }) =>
    any([min > 0 && counted(formula, 0, min - 1), max < Infinity && counted(formula, max + 1)]),
};
