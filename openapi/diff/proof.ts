import * as cases from "./cases.ts";
import { type Case, least, most, valuesOf } from "./cases.ts";
import { EXTENSIONS } from "./extensions.ts";
import { all, type Formula, fulfils, not, type Term, TYPES, type Type } from "./formula.ts";
import type { Schema } from "./schema.ts";
import { holds } from "./values.ts";

/**
 * Whether every value that is valid for `sub` is proven to be valid for `sup`, too: no case is left in which a value is valid for one
 * and not for the other. Yes is certain; no means that nothing here proves it. A field that an open object of type `object` doesn't
 * declare counts as not sent.
 */
export function isContained(sub: Schema, sup: Schema): boolean {
  return refutes(newProof(), difference(sub, sup));
}
export const difference = (sub: Schema, sup: Schema) => all([fulfils(sub), not(fulfils(sup, true))]);
export const newProof = (): Proof => ({ steps: STEPS, open: new Map(), proven: new Map(), lowest: Infinity });

/** After as many steps the proof is abandoned, and the answer is no. */
const STEPS = 3000;
const DEPTH = 30;
/** `open` are the questions that wait for parts of the value, and `lowest` is the outermost one that the last answer rests on. */
export type Proof = {
  steps: number;
  lowest: number;
  readonly open: Map<Term, number>;
  readonly proven: Map<Term, number>;
};
const verdicts = new Map<Term, boolean>();

/** Whether no value fulfils a formula. */
export function refutes(proof: Proof, formula: Formula): boolean {
  if (typeof formula === "boolean") return !formula;
  const before = proof.lowest;
  const verdict = verdicts.get(formula);
  if (verdict !== undefined) return verdict;
  // The same of a part of the value: whatever is finite ends.
  const opened = proof.open.get(formula) ?? proof.proven.get(formula);
  if (opened !== undefined) proof.lowest = Math.min(before, opened);
  if (opened !== undefined || proof.open.size > DEPTH) return opened !== undefined;
  const [order, start] = [proof.open.size, proof.proven.size];
  proof.lowest = Number.POSITIVE_INFINITY;
  proof.open.set(formula, order);
  const result = TYPES.every((type) => casesOf(proof, type, formula).next().done);
  proof.open.delete(formula);
  const { lowest } = proof;
  const isFinal = lowest >= order;
  // What rests on this question is open again without it, and is proven with it if it rests on no other.
  const resting = isFinal || !result ? [...proof.proven.keys()].slice(start) : [];
  for (const one of resting) proof.proven.delete(one);
  if (result && isFinal) for (const one of [...resting, formula]) verdicts.set(one, true);
  if (result && !isFinal) proof.proven.set(formula, lowest);
  if (!result && proof.steps > 0) verdicts.set(formula, false);
  proof.lowest = result && !isFinal ? Math.min(before, lowest) : before;
  return result;
}

/** The cases in which a value of a type may fulfil a formula, as far as nothing contradicts them. */
export function* casesOf(proof: Proof, type: Type, formula: Formula): Generator<Case> {
  const start: Case = { type, yes: new Set(), no: new Set(), open: [], later: [] };
  if (cases.assume(start, formula)) yield* split(proof, start);
}

function* split(proof: Proof, own: Case): Generator<Case> {
  const live = own.open
    .filter((choice) => !choice.some((one) => cases.isKnown(own, one)))
    .map((choice) => choice.filter((one) => !cases.isKnown(own, not(one))))
    .toSorted((one, other) => one.length - other.length);
  own.open = live;
  if (live[0]?.length === 0 || contradicts(proof, own)) return;
  const choice = live[0] ?? (own.later[0] && cases.placesOf(own, own.later[0]));
  if (choice === undefined || proof.steps-- < 0) return yield own;
  for (const one of choice) {
    const next: Case = {
      type: own.type,
      yes: new Set(own.yes),
      no: new Set(own.no),
      open: live.slice(1),
      later: live[0] ? [...own.later] : own.later.slice(1),
    };
    if (cases.assume(next, one)) yield* split(proof, next);
  }
}

/** Whether what is known excludes a value. */
function contradicts(proof: Proof, own: Case): boolean {
  const { type } = own;
  if (fewValues(own)?.length === 0) return true;
  if (type === "string") return least(own, "minLength") > most(own, "maxLength");
  if (type === "array") return contradictsItems(proof, own);
  if (type === "object") return contradictsMembers(proof, own);
  const [low, high] = [Math.max(...valuesOf<number>(own, "minimum")), most(own, "maximum")];
  const [above, below] = [
    Math.max(...valuesOf<number>(own, "exclusiveMinimum")),
    most(own, "exclusiveMaximum"),
  ];
  if (type === "fraction" && (low > high || above >= Math.min(high, below) || low >= below)) return true;
  return contradictsDenied(own);
}

const WIDER: Readonly<Record<string, string>> = { int32: "int64", float: "double" };
/** Whether a denied keyword follows from another one. */
function contradictsDenied(own: Case): boolean {
  return [...own.no].some(({ is, of: denied }) =>
    [...own.yes].some(({ is: keyword, of: value }) => {
      if (keyword !== is) return false;
      if (is === "format") return WIDER[String(value)] === denied;
      if (is === "multipleOf") return Number.isInteger(Number(value) / Number(denied));
      return EXTENSIONS[is]?.limits?.implies(value, denied) === true;
    }),
  );
}

/** All values that are left, where these can be listed. */
export function fewValues(own: Case): unknown[] | undefined {
  const listed = () => {
    if (own.type === "null") return [null];
    if (own.type === "boolean") return [true, false];
    if (own.type === "integer") return integersOf(own);
    const only = { string: ["maxLength", ""], array: ["maxItems", []], object: ["maxProperties", {}] }[
      own.type as string
    ];
    return only && most(own, String(only[0])) === 0 ? [only[1]] : undefined;
  };
  return (valuesOf<unknown[]>(own, "values")[0] ?? listed())?.filter(
    (value) =>
      [...own.yes].every((one) => holds(one, value) !== false) &&
      [...own.no].every((one) => holds(one, value) !== true) &&
      own.open.every((choice) => choice.some((one) => holds(one, value) !== false)),
  );
}

function integersOf(own: Case): number[] | undefined {
  const first = Math.max(
    ...valuesOf<number>(own, "minimum").map(Math.ceil),
    ...valuesOf<number>(own, "exclusiveMinimum").map((one) => Math.floor(one) + 1),
  );
  const last = Math.min(Math.floor(most(own, "maximum")), Math.ceil(most(own, "exclusiveMaximum")) - 1);
  return last - first < 20
    ? Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => first + index)
    : undefined;
}

/** Whether items that the list has to have exclude each other. */
function contradictsItems(proof: Proof, own: Case): boolean {
  const [min, further] = [cases.leastItems(own), cases.furtherItem(own)];
  if (min > most(own, "maxItems")) return true;
  const indexes = (count: number) =>
    Array.from({ length: Math.min(count, further + 1) }, (_, index) => index);
  const isRefuted = (index: number, part: Formula = true) =>
    refutes(proof, all([cases.partsOfItem(own, index), part]));
  if (indexes(min).some((index) => isRefuted(index))) return true;
  const counts = cases.countsOf(own);
  return counts.some((one) => {
    const sure = indexes(min).filter((index) => isRefuted(index, not(one.part)));
    const rest = sure.includes(further) ? min - further - 1 : 0;
    const isLacking =
      one.min > 0 && indexes(most(own, "maxItems")).every((index) => isRefuted(index, one.part));
    const isExceeded = counts.some(
      (other) => other.min > one.max && refutes(proof, all([other.part, not(one.part)])),
    );
    return isLacking || isExceeded || sure.length + rest > one.max;
  });
}

/** Whether members that the object has to have exclude each other. */
function contradictsMembers(proof: Proof, own: Case): boolean {
  const { names, patterns } = cases.mentioned(own);
  const present = cases.presentNames(own);
  const [min, max] = [least(own, "minProperties"), most(own, "maxProperties")];
  if (Math.max(min, present.length) > max) return true;
  const isImpossible = (name: string) =>
    isNoName(proof, own, name) || refutes(proof, cases.partsOfMember(own, name));
  if (present.some(isImpossible)) return true;
  const others = [cases.otherName(own), ...patterns.map((only) => cases.otherName(own, only, []))];
  if (min > 0 && others.every(isImpossible) && min > names.filter((name) => !isImpossible(name)).length)
    return true;
  if (own.open.length > 0 || !valuesOf(own, "described").length || valuesOf(own, "members", "names").length)
    return false;
  // What an open object doesn't declare, nobody sends: a promise about it can only be broken by forbidding it.
  const declared = valuesOf(own, "has", "member");
  return [...own.yes].some(
    ({ is, of, parts: [part = true] }) => is === "broken" && !declared.includes(of) && !refutes(proof, part),
  );
}

function isNoName(proof: Proof, own: Case, name: string): boolean {
  const said = cases.partsOfName(own, name);
  return name.startsWith("\0") ? refutes(proof, said) : holds(said, name) === false;
}
