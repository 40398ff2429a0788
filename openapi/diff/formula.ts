import { isNode, membersOf, type Node } from "./document.ts";
import { EXTENSIONS } from "./extensions.ts";
import { idOf, isText, referred, type Schema, unify } from "./schema.ts";

export const TYPES = ["null", "boolean", "integer", "fraction", "string", "array", "object"] as const;
export type Type = (typeof TYPES)[number];

/** What is said of a value of one type. `all`, `any`, `not` and `schema` are made of others, and `goal` is the schema of a proof. */
export type Formula = boolean | Term;
export type Term = { readonly is: string; readonly of?: unknown; readonly parts: readonly Formula[] };
/** How many items have to be such, and may be. */
export type Count = { readonly min: number; readonly max?: number | undefined };
/** The names but some, and but those that match patterns; or those that match one. */
export type Names = { readonly but: string[]; readonly patterns?: string[]; readonly only?: string };

export const term = (is: string, of?: unknown, ...parts: Formula[]): Term => unify({ is, of, parts });
export const all = (parts: readonly Formula[]) => joined("all", parts, true);
export const any = (parts: readonly Formula[]) => joined("any", parts, false);
function joined(is: string, parts: readonly Formula[], idle: boolean): Formula {
  if (parts.includes(!idle)) return !idle;
  const own = [...new Set(parts)].filter((part) => part !== idle).toSorted((a, b) => idOf(a) - idOf(b));
  return own.length < 2 ? (own[0] ?? idle) : term(is, undefined, ...own);
}
export function not(formula: Formula): Formula {
  if (typeof formula === "boolean") return !formula;
  return formula.is === "not" ? (formula.parts[0] as Formula) : term("not", undefined, formula);
}
export const fulfils = (schema: Schema, isGoal = false): Formula =>
  typeof schema === "boolean" ? schema : term(isGoal ? "goal" : "schema", unify(schema));

export const has = (name: string) => term("has", name);
export const member = (name: string, part: Formula) => term("member", name, part);
const members = (names: Names, part: Formula) => (part === true ? true : term("members", names, part));
export const item = (index: number, part: Formula) => (part === true ? true : term("item", index, part));
const items = (from: number, part: Formula) => (part === true ? true : term("items", from, part));
export const counted = (part: Formula, min: number, max?: number): Formula =>
  min <= 0 && max === undefined ? true : term("count", { min, max }, part);

export function typeOf(value: unknown): Type {
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "fraction";
  return value === null ? "null" : Array.isArray(value) ? "array" : (typeof value as Type);
}
const includesType = (types: unknown, type: Type) =>
  [types].flat().some((one) => one === type || (one === "number" && ["integer", "fraction"].includes(type)));

/** The type whose values a keyword limits; other keywords limit any. */
export const RANGES: Readonly<Record<string, string>> = Object.fromEntries(
  [
    ["number", "minimum maximum exclusiveMinimum exclusiveMaximum multipleOf"],
    ["string", "minLength maxLength pattern"],
    ["array", "minItems maxItems uniqueItems items prefixItems unevaluatedItems contains"],
    ["object", "required properties patternProperties additionalProperties unevaluatedProperties"],
    ["object", "propertyNames minProperties maxProperties dependentRequired dependentSchemas"],
    ...Object.entries(EXTENSIONS).map(([name, { limits }]) => [limits?.type ?? "", name]),
  ].flatMap(([type = "", keywords = ""]) => keywords.split(" ").map((keyword) => [keyword, type])),
);
const SILENT = ["deprecated", "default", "discriminator", "then", "else", "minContains", "maxContains"];
/** Whether a keyword limits values by itself. */
const limits = (keyword: string) => !isText(keyword) && !SILENT.includes(keyword) && RANGES[keyword] !== "";

type Whole = {
  readonly node: Node;
  readonly type: Type;
  readonly isGoal: boolean;
  /** Whether the formula is taken to hold, so that it may say less than the schema; else it may say more. */
  readonly isTrue: boolean;
  readonly is: (part: unknown) => Formula;
};
/** What each keyword says; one that isn't here is an atom, about which only its own denial is known. */
const KEYWORDS: Readonly<Record<string, (value: never, whole: Whole) => Formula>> = {
  type: (types, { type }) => includesType(types, type),
  enum: (values: unknown, { type }) => oneOfThese([values].flat(), type),
  const: (value, { type }) => oneOfThese([value], type),
  $ref: (name, { is }) => (referred(name) ? is(referred(name)?.schema) : term("$ref", name)),
  $dynamicRef: (_, { node }) => term("$dynamicRef", node),
  not: (part, { is }) => not(is(part)),
  allOf: (parts: unknown[], { is }) => all(parts.map(is)),
  anyOf: (parts: unknown[], { is }) => any(parts.map(is)),
  oneOf: (parts: unknown[], { is }) => {
    const pairs = parts.flatMap((one, index) => parts.slice(index + 1).map((other) => [one, other]));
    return all([any(parts.map(is)), ...pairs.map((pair) => any(pair.map((one) => not(is(one)))))]);
  },
  if: (condition, { node, is }) =>
    all([any([not(is(condition)), is(node.then)]), any([is(condition), is(node.else)])]),

  required: (names: string[]) => all(names.map(has)),
  properties: (parts, { node, is, isGoal, isTrue }) => {
    const isDescribed = isTrue && !isGoal && node.type === "object";
    const own = membersOf(parts).map(([name, part]) => term(isGoal ? "promise" : "member", name, is(part)));
    return all([...own, isDescribed ? term("described") : true]);
  },
  patternProperties: (parts, { is }) =>
    all(membersOf(parts).map(([only, part]) => members({ but: [], only }, is(part)))),
  additionalProperties: (part, { node, is }) =>
    members({ but: keysOf(node.properties), patterns: keysOf(node.patternProperties) }, is(part)),
  unevaluatedProperties: (part, whole) => {
    const found = evaluatorsOf(whole);
    const names = [...new Set(found.flatMap((one) => one.names))];
    // A name that matches may be evaluated by another pattern, too.
    const patterns = found.filter(({ when }) => whole.isTrue || when === true).flatMap((one) => one.patterns);
    const unless = (isIt: (one: Evaluator) => boolean, rest: Formula) =>
      any([...found.filter(isIt).map(({ when }) => when), rest]);
    const evaluates = (name: string) => (one: Evaluator) =>
      one.isAll || one.names.includes(name) || one.patterns.some((pattern) => matches(pattern, name));
    return all([
      ...names.map((name) => unless(evaluates(name), member(name, whole.is(part)))),
      unless(({ isAll }) => isAll, members({ but: names, patterns }, whole.is(part))),
    ]);
  },
  propertyNames: (part, { is }) => term("names", undefined, is(part)),
  dependentRequired: (lists) =>
    all(membersOf(lists).map(([name, needed]) => any([not(has(name)), all((needed as string[]).map(has))]))),
  dependentSchemas: (parts, { is }) =>
    all(membersOf(parts).map(([name, part]) => any([not(has(name)), is(part)]))),

  prefixItems: (parts: unknown[], { is }) => all(parts.map((part, index) => item(index, is(part)))),
  items: (part, { node, is }) => items(keysOf(node.prefixItems).length, is(part)),
  contains: (part, { node, is }) =>
    counted(is(part), Number(node.minContains ?? 1), node.maxContains as number | undefined),
  unevaluatedItems: (part, whole) => {
    const found = evaluatorsOf(whole).filter(({ when }) => whole.isTrue || when === true);
    const first = Math.max(0, ...found.map((one) => one.first));
    const unless = (index: number, rest: Formula) =>
      any([...found.filter((one) => one.isAll || one.first > index).map(({ when }) => when), rest]);
    const firsts = Array.from({ length: first }, (_, index) => unless(index, item(index, whole.is(part))));
    return all([...firsts, unless(first, items(first, whole.is(part)))]);
  },
};
const keysOf = (value: unknown) => Object.keys(value ?? {});
const oneOfThese = (values: readonly unknown[], type: Type) => {
  const own = values.filter((value) => typeOf(value) === type);
  return own.length === 0 ? false : type === "null" || term("values", own);
};

/** Which members or items a schema evaluates, and when it does. */
type Evaluator = {
  readonly when: Formula;
  readonly isAll: boolean;
  readonly names: string[];
  readonly patterns: string[];
  readonly first: number;
};

function evaluatorsOf({ node: whole, type, isTrue, is }: Whole): Evaluator[] {
  const found: Evaluator[] = [];
  const visit = (node: unknown, when: Formula, path: readonly unknown[]): void => {
    if (!isNode(node) || path.includes(node)) return;
    const within = (part: unknown, own: Formula = true) => visit(part, all([when, own]), [...path, node]);
    const { $ref, allOf = [], anyOf = [], oneOf = [], if: condition, dependentSchemas } = node;
    const isUnknown = "$dynamicRef" in node || ($ref !== undefined && !referred($ref));
    const [rest, unevaluated] =
      type === "array" ? ["items", "unevaluatedItems"] : ["additionalProperties", "unevaluatedProperties"];
    // Validators differ in which items a condition or `contains` evaluates: the schema may mean all of them, or none.
    if (type === "array" && "contains" in node && isTrue)
      found.push({ when: true, isAll: true, names: [], patterns: [], first: 0 });
    found.push({
      when,
      isAll: rest in node || (unevaluated in node && node !== whole) || (isUnknown && isTrue),
      names: keysOf(node.properties),
      patterns: keysOf(node.patternProperties),
      first: keysOf(node.prefixItems).length,
    });
    for (const part of [referred($ref)?.schema, ...(allOf as unknown[])]) within(part);
    for (const part of [anyOf, oneOf].flat()) within(part, is(part));
    for (const part of condition === undefined ? [] : [condition, node.then]) within(part, is(condition));
    within(node.else, not(is(condition)));
    for (const [name, part] of membersOf(dependentSchemas)) within(part, has(name));
  };
  visit(whole, true, []);
  return found;
}

/** Whether a name matches; undefined when that isn't known. Names that begin with NUL stand for others. */
export function matches(pattern: string, name: string): boolean | undefined {
  if (name.startsWith("\0")) {
    const { only, but } = JSON.parse(name.slice(1)) as { only?: string; but?: string[] };
    return only === pattern || (but === undefined || but.includes(pattern) ? false : undefined);
  }
  try {
    return new RegExp(pattern, "u").test(name);
  } catch {
    return undefined;
  }
}

const translated = new Map<Term, Map<string, Formula>>();
/** What a schema says of values of a type. */
export function translate(schema: Term, type: Type, isTrue: boolean): Formula {
  const key = `${type} ${isTrue}`;
  const own = translated.get(schema) ?? new Map<string, Formula>();
  translated.set(schema, own);
  const [node, isGoal] = [schema.of as Node, schema.is === "goal"];
  const is = (part: unknown = true) => fulfils(part as Schema, isGoal);
  const say = (keyword: string): Formula => {
    const range = RANGES[keyword];
    if (!limits(keyword) || (range !== undefined && !includesType(range, type))) return true;
    const value = node[keyword];
    return KEYWORDS[keyword]?.(value as never, { node, type, isGoal, isTrue, is }) ?? term(keyword, value);
  };
  const result = own.get(key) ?? all(Object.keys(node).map(say));
  own.set(key, result);
  return result;
}
