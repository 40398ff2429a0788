/**
 * Proves that nothing valid becomes invalid. Rules for pairs of keywords would miss what several say together, such as `oneOf`, `not`
 * and `unevaluatedProperties`, so that all values of one schema that the other refuses are divided into cases until none is left.
 */
import type { ValidateFunction } from "ajv/dist/2020.js";
import { refutesByParts } from "./alike.ts";
import type { Schema } from "./documents.ts";
import type { Count, Formula, Key, Refutes, Term } from "./formula.ts";
import { all, fulfils, has, not, part, values } from "./formula.ts";
import { isEqual, TYPES, type Type, typeOf } from "./json-pointer.ts";
import { translate } from "./keywords.ts";
import { ajv } from "./read-schema.ts";

/**
 * Whether it is proven that every value valid for `sub` is valid for `sup`, too. Yes is certain; no means that nothing here proves it.
 * A field that an open object of type `object` doesn't declare counts as never sent.
 */
export const isContained = (sub: Schema, sup: Schema) => isImpossible(difference(sub, sup));
export const difference = (sub: Schema, sup: Schema) => all([fulfils(sub), not(fulfils(sup, true))]);

/** How many facts are looked at for one formula, and for all that it depends on; beyond that nothing counts as proven. */
const COST = { formula: 2_000, all: 100_000 };
/** Whether a formula is known to be impossible, so that each is decided once. */
const verdicts = new Map<Term, boolean>();

/**
 * Whether it is proven that no value fulfils a formula. All that it depends on is taken for impossible at first, because a value whose
 * part needs a part of the same kind would never end. When a case of one remains, those that depend on it are looked at again.
 */
export function isImpossible(formula: Formula): boolean {
  const users = new Map<Term, Set<Term>>();
  const open = new Set<Term>();
  const ask = (one: Formula, user?: Term): boolean => {
    const verdict = typeof one === "boolean" ? !one : verdicts.get(one);
    if (verdict !== undefined) return verdict;
    const own = users.get(one as Term) ?? new Set();
    if (!users.has(one as Term)) open.add(one as Term);
    users.set(one as Term, user ? own.add(user) : own);
    return true;
  };
  let left = COST.all;
  ask(formula);
  for (const one of open) {
    open.delete(one);
    const refutes = (part: Formula) => ask(part, one);
    const budget = { left: COST.formula };
    const isLeft = (type: Type) => !casesOf(refutes, type, one, budget).next().done;
    const isRefuted = verdicts.has(one) || (refutesByParts(refutes, one) ?? !TYPES.some(isLeft));
    left -= COST.formula - budget.left;
    if (left < 0) return !verdicts.set(formula as Term, false);
    if (isRefuted) continue;
    verdicts.set(one, false);
    for (const user of users.get(one) ?? []) open.add(user);
  }
  for (const one of users.keys()) if (!verdicts.has(one)) verdicts.set(one, true);
  return ask(formula);
}

/** What is known of a value of a type: facts, choices between formulas, and opposites of `parts`, which each need a part. */
export type Case = {
  readonly type: Type;
  readonly facts: Set<Term>;
  /** The facts by their kind, once somebody asked. */
  kinds?: Map<string, Term[]> | undefined;
  choices: (readonly Formula[])[];
  readonly needed: Term[];
  readonly refutes: Refutes;
  /** How many facts may still be looked at. */
  readonly budget: { left: number };
};
function factsOf(own: Case, kind: string): readonly Term[] {
  own.kinds ??= Map.groupBy(own.facts, ({ is }) => is);
  return own.kinds.get(kind) ?? [];
}

const isKnown = ({ facts }: Case, formula: Formula) =>
  typeof formula === "boolean" ? formula : facts.has(formula);

/** Adds what a formula says to a case; false when it contradicts what is known. */
function assume(own: Case, formula: Formula): boolean {
  if (typeof formula === "boolean") return formula;
  const { is, of, parts } = formula;
  if (is === "expectedField") return assume(own, part(of as string, parts[0] as Formula));
  if (is === "all") return parts.every((one) => assume(own, one));
  if (is === "any") return own.choices.push(parts) > 0;
  if (isKnown(own, not(formula))) return false;
  if (isKnown(own, formula)) return true;
  own.facts.add(formula);
  own.kinds = undefined;
  const told = is === "not" ? (parts[0] as Term) : formula;
  if (is === "not" && told.is === "parts") own.needed.push(told);
  if (told.is !== "schema" && told.is !== "expected") return true;
  // Whether it is expected or not, a schema says the same.
  const twin = fulfils(told.of, told.is === "schema") as Term;
  own.facts.add(is === "not" ? (not(twin) as Term) : twin);
  return assume(own, translate(told, own.type, is !== "not"));
}

/** The cases in which a value of a type may fulfil a formula, but for those that contradict themselves. */
export function* casesOf(
  refutes: Refutes,
  type: Type,
  formula: Formula,
  budget = { left: COST.formula },
): Generator<Case> {
  const start: Case = { type, facts: new Set(), choices: [], needed: [], refutes, budget };
  if (assume(start, formula)) yield* split(start);
}

function* split(own: Case): Generator<Case> {
  const live = own.choices
    .filter((choice) => !choice.some((one) => isKnown(own, one)))
    .map((choice) => choice.filter((one) => !isKnown(own, not(one))))
    .toSorted((one, other) => one.length - other.length);
  own.choices = live;
  if (live[0]?.length === 0 || contradicts(own)) return;
  const choice = live[0] ?? (own.needed[0] && placesOf(own, own.needed[0]));
  own.budget.left -= own.facts.size + live.length;
  if (choice === undefined || own.budget.left < 0) return yield own;
  for (const one of choice) {
    const needed = own.needed.slice(live[0] ? 0 : 1);
    const next = { ...own, facts: new Set(own.facts), kinds: undefined, choices: live.slice(1), needed };
    if (assume(next, one)) yield* split(next);
  }
}

/** Whether what is known excludes a value. */
function contradicts(own: Case): boolean {
  const { type } = own;
  if (fewValues(own)?.length === 0) return true;
  if (type === "string") return least(own, "minLength") > most(own, "maxLength");
  if (type === "array" || type === "object") return contradictsParts(own);
  return contradictsBounds(own) || contradictsDenied(own);
}

function contradictsBounds(own: Case): boolean {
  const [low, above] = [least(own, "minimum", -Infinity), least(own, "exclusiveMinimum", -Infinity)];
  const [high, below] = [most(own, "maximum"), most(own, "exclusiveMaximum")];
  const first = Math.max(Math.ceil(low), Math.floor(above) + 1);
  const last = Math.min(Math.floor(high), Math.ceil(below) - 1);
  if (own.type === "integer") return first > last;
  return low > high || above >= Math.min(high, below) || low >= below;
}

const WIDER: Readonly<Record<string, string>> = { int32: "int64", float: "double" };
/** Whether a keyword that must fail is implied by one that must hold. */
function contradictsDenied(own: Case): boolean {
  const denied = factsOf(own, "not").map(({ parts: [one] }) => one as Term);
  const steps = [...settings<number>(own, "multipleOf"), ...(own.type === "integer" ? [1] : [])];
  const formats = settings<string>(own, "format").map((format) => WIDER[format]);
  return denied.some(({ is, of }) =>
    is === "multipleOf"
      ? steps.some((one) => Number.isInteger(one / Number(of)))
      : formats.includes(of as string),
  );
}

/** All values that are left, where these can be listed. */
export function fewValues(own: Case): unknown[] | undefined {
  const all = { null: [null], boolean: [true, false] }[own.type as string];
  return (settings<unknown[]>(own, "values")[0] ?? all)?.filter(
    (value) => typeOf(value) === own.type && [...own.facts].every((one) => allows(one, value) !== false),
  );
}

const compiled = new Map<Term, ValidateFunction | undefined>();

/** Whether a term holds for a value without parts; undefined where nothing here can say. */
function allows(one: Term, value: unknown): boolean | undefined {
  const denied = one.is === "not" ? allows(one.parts[0] as Term, value) : undefined;
  if (one.is === "not") return denied === undefined ? undefined : !denied;
  if (one.is === "values") return (one.of as unknown[]).some((other) => isEqual(value, other));
  if (!compiled.has(one)) compiled.set(one, compile(one));
  return compiled.get(one)?.(value) as boolean | undefined;
}

function compile({ is, of }: Term): ValidateFunction | undefined {
  if (is === "format" ? !(String(of) in ajv.formats) : !ajv.getKeyword(is)) return undefined;
  try {
    return ajv.compile({ [is]: of });
  } catch {
    return undefined;
  }
}

const isOf = (own: Case, key: Key, keys: Formula) =>
  own.refutes(all([typeof key === "object" ? key : values([key]), not(keys)]));

/** The keys to try for a part that must exist under some key: one unmentioned name and one further item stand for all others. */
function placesOf(own: Case, { parts: [keys = true, formula = true] }: Term): Formula[] {
  const others = own.type === "array" ? [furtherIndex(own)] : otherNames(own, keys);
  const places = [...mentioned(own).filter((key) => !isOf(own, key, not(keys))), ...others];
  return places.map((key) => all([has(key), part(key, not(formula))]));
}

/** What is said of a part. */
export const saidOf = (own: Case, key: Key): Formula[] =>
  ["part", "unexpectedField", "parts"].flatMap((kind) =>
    factsOf(own, kind).flatMap(({ of, parts: [first = true, second = true] }) => {
      if (kind === "parts") return isOf(own, key, first) ? [second] : [];
      return of === key ? [kind === "part" ? first : not(first)] : [];
    }),
  );

/** Whether parts that the value has to have exclude each other. */
function contradictsParts(own: Case): boolean {
  const [min, max, counts] = [leastSize(own), most(own, "maxSize"), countsOf(own)];
  if (min > max) return true;
  const isExcluded = (key: Key, formula: Formula = true) =>
    (typeof key === "object" && own.refutes(key)) || own.refutes(all([...saidOf(own, key), formula]));
  if (presentKeys(own).some((key) => isExcluded(key))) return true;
  const isMiscounted = counts.some((one) => {
    const isLacking = one.min > 0 && presentKeys(own, max).every((key) => isExcluded(key, one.formula));
    const sure = presentKeys(own).filter((key) => isExcluded(key, not(one.formula)));
    const isMore = (other: typeof one) =>
      other.min > one.max && own.refutes(all([other.formula, not(one.formula)]));
    return isLacking || sure.length > one.max || counts.some(isMore);
  });
  if (isMiscounted) return true;
  const isClosed = factsOf(own, "parts").length > 0;
  if (own.choices.length > 0 || isClosed || settings(own, "sendsDeclared").length === 0) return false;
  // Undeclared fields are taken as never sent, so only forbidding one breaks anybody.
  const declared = settings(own, "has", "part");
  return factsOf(own, "unexpectedField").some(
    ({ of, parts: [formula = true] }) => !declared.includes(of) && !isImpossible(formula),
  );
}

const STRING = fulfils({ type: "string" });
/** A name that nothing mentions. */
function otherNames(own: Case, keys: Formula): Key[] {
  const known = mentioned(own).filter((key) => typeof key !== "object");
  const name = all([STRING, keys, not(values([...known, `\0${own.facts.size}`]))]);
  return typeof name === "object" ? [name] : [];
}

const listedIn = (formula: Formula): readonly Key[] => {
  if (typeof formula === "boolean") return [];
  return formula.is === "values" ? (formula.of as Key[]) : formula.parts.flatMap(listedIn);
};
/** The keys that anything known tells from others. */
function mentioned(own: Case): Key[] {
  const several = [...factsOf(own, "parts"), ...own.needed];
  const listed = several.flatMap(({ parts: [keys = true] }) => listedIn(keys));
  return [...new Set([...settings<Key>(own, "has", "part", "unexpectedField"), ...listed])];
}
export const furtherIndex = (own: Case) => Math.max(-1, ...mentioned(own).map(Number)) + 1;

/** What all terms of some kinds say. */
export const settings = <Value>(own: Case, ...kinds: string[]): Value[] =>
  kinds.flatMap((kind) => factsOf(own, kind).map(({ of }) => of as Value));
export const least = (own: Case, kind: string, floor = 0) => Math.max(floor, ...settings<number>(own, kind));
export const most = (own: Case, kind: string) => Math.min(Infinity, ...settings<number>(own, kind));

export const countsOf = (own: Case) =>
  factsOf(own, "count").map(({ of, parts: [formula = true] }) => ({ formula, ...(of as Count) }));
/** The size that the value has to have. */
export const leastSize = (own: Case) =>
  Math.max(least(own, "minSize"), presentNames(own).length, ...countsOf(own).map(({ min }) => min));
const presentNames = (own: Case) => [...new Set(settings<Key>(own, "has", "unexpectedField"))];
/** The keys that the value has to have; of further items, only the first. */
export const presentKeys = (own: Case, size = leastSize(own)): Key[] =>
  own.type === "object"
    ? presentNames(own)
    : Array.from({ length: Math.min(size, furtherIndex(own) + 1) }, (_, index) => index);
