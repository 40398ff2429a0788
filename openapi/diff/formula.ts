import { isNode, memberOf, membersOf, type Node } from "./document.ts";
import { EXTENSIONS } from "./extensions.ts";
import { idOf, isText, referred, unify } from "./schema.ts";

export const TYPES = ["null", "boolean", "integer", "fraction", "string", "array", "object"] as const;
export type Type = (typeof TYPES)[number];

/**
 * What is said of a value of one type. `all`, `any`, `not` and `schema` are made of others, and `goal` is the schema of a proof. A
 * value has parts by key: the items of a list by index, the members of an object by name. A formula stands for a name that nothing
 * mentions.
 */
export type Formula = boolean | Term;
export type Term = { readonly is: string; readonly of?: unknown; readonly parts: readonly Formula[] };
export type Key = string | number | Term;

export const term = (is: string, of?: unknown, ...parts: Formula[]): Term => unify({ is, of, parts });
export const all = (parts: readonly Formula[]) => joined("all", parts, true);
export const any = (parts: readonly Formula[]) => joined("any", parts, false);
function joined(is: string, parts: readonly Formula[], idle: boolean): Formula {
  if (parts.includes(!idle)) return !idle;
  const flat = parts.flatMap((one) => (typeof one === "object" && one.is === is ? one.parts : [one]));
  const own = [...new Set(flat)].filter((one) => one !== idle).toSorted((a, b) => idOf(a) - idOf(b));
  return own.length < 2 ? (own[0] ?? idle) : term(is, undefined, ...own);
}
export function not(formula: Formula): Formula {
  if (typeof formula === "boolean") return !formula;
  return formula.is === "not" ? (formula.parts[0] as Formula) : term("not", undefined, formula);
}
export const fulfils = (schema: unknown = true, isGoal = false): Formula =>
  isNode(schema) ? term(isGoal ? "goal" : "schema", unify(schema)) : schema !== false;

export const values = (list: readonly unknown[]): Formula => list.length > 0 && term("values", list);
export const has = (key: Key) => (typeof key === "number" ? term("minSize", key + 1) : term("has", key));
export const part = (key: Key, formula: Formula) => term("part", key, formula);
/** All parts whose keys fulfil a formula. */
const parts = (keys: Formula, formula: Formula) =>
  formula === true || keys === false ? true : term("parts", undefined, keys, formula);
export type Count = { readonly min: number; readonly max: number };
export const counted = (formula: Formula, min: number, max = Number.POSITIVE_INFINITY) =>
  term("count", { min, max }, formula);

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
    ["nothing", "deprecated default discriminator then else minContains maxContains"],
    ...Object.entries(EXTENSIONS).map(([name, { limits }]) => [limits?.type ?? "nothing", name]),
  ].flatMap(([type = "", keywords = ""]) => keywords.split(" ").map((keyword) => [keyword, type])),
);

type Whole = {
  readonly node: Node;
  readonly type: Type;
  readonly isGoal: boolean;
  /** Whether the formula is taken to hold, so that it may say less than the schema; else it may say more. */
  readonly isTrue: boolean;
  readonly is: (schema: unknown) => Formula;
};
const keysOf = (value: unknown) => Object.keys(value ?? {});
/** What each keyword says; one that isn't here is an atom, about which only its own denial is known. */
const KEYWORDS: Readonly<Record<string, (value: never, whole: Whole) => Formula>> = {
  type: (types, { type }) => includesType(types, type),
  enum: (list: unknown, { type }) => oneOfThese([list].flat(), type),
  const: (value, { type }) => oneOfThese([value], type),
  $ref: (name, { is }) => (referred(name) ? is(referred(name)?.schema) : term("$ref", name)),
  $dynamicRef: (_, { node }) => term("$dynamicRef", node),
  not: (schema, { is }) => not(is(schema)),
  allOf: (schemas: unknown[], { is }) => all(schemas.map(is)),
  anyOf: (schemas: unknown[], { is }) => any(schemas.map(is)),
  oneOf: (schemas: unknown[], { is }) => {
    const pairs = schemas.flatMap((one, index) => schemas.slice(index + 1).map((other) => [one, other]));
    return all([any(schemas.map(is)), ...pairs.map((pair) => any(pair.map((one) => not(is(one)))))]);
  },
  if: (condition, { node, is }) =>
    all([any([not(is(condition)), is(node.then)]), any([is(condition), is(node.else)])]),

  required: (names: string[]) => all(names.map(has)),
  properties: (schemas, { node, is, isGoal, isTrue }) => {
    const own = membersOf(schemas).map(([name, one]) => term(isGoal ? "promise" : "part", name, is(one)));
    return all([...own, isTrue && !isGoal && node.type === "object" ? term("described") : true]);
  },
  patternProperties: (schemas, { is }) =>
    all(membersOf(schemas).map(([pattern, one]) => parts(term("pattern", pattern), is(one)))),
  additionalProperties: (schema, { node, is }) => {
    const patterns = keysOf(node.patternProperties).map((pattern) => term("pattern", pattern));
    return parts(not(any([values(keysOf(node.properties)), ...patterns])), is(schema));
  },
  unevaluatedProperties: sayUnevaluated,
  propertyNames: (schema, { is }) => parts(not(is(schema)), false),
  minProperties: (size) => term("minSize", size),
  maxProperties: (size) => term("maxSize", size),
  dependentRequired: (lists) =>
    all(membersOf(lists).map(([name, needed]) => any([not(has(name)), all((needed as string[]).map(has))]))),
  dependentSchemas: (schemas, { is }) =>
    all(membersOf(schemas).map(([name, one]) => any([not(has(name)), is(one)]))),

  minItems: (size) => term("minSize", size),
  maxItems: (size) => term("maxSize", size),
  prefixItems: (schemas: unknown[], { is }) => all(schemas.map((one, index) => part(index, is(one)))),
  items: (schema, { node, is }) => parts(not(values(keysOf(node.prefixItems).map(Number))), is(schema)),
  contains: (schema, { node, is }) =>
    counted(is(schema), Number(node.minContains ?? 1), node.maxContains as number | undefined),
  unevaluatedItems: sayUnevaluated,
};

function oneOfThese(list: readonly unknown[], type: Type): Formula {
  const own = list.filter((value) => typeOf(value) === type);
  const whole = (value: unknown) => {
    const keys: (string | number)[] = type === "array" ? [...(value as unknown[]).keys()] : keysOf(value);
    const said = keys.flatMap((key) => [has(key), part(key, fulfils({ const: memberOf(value, key) }))]);
    return all([...said, term("maxSize", keys.length)]);
  };
  return type === "array" || type === "object" ? any(own.map(whole)) : values(own);
}

/** Which parts a schema evaluates, by key and by pattern, and when it does. */
type Evaluator = {
  readonly when: Formula;
  readonly isAll: boolean;
  readonly keys: readonly Key[];
  readonly patterns: readonly string[];
};

function sayUnevaluated(schema: unknown, whole: Whole): Formula {
  // Validators differ in which items a condition evaluates, so that it counts for nobody.
  const isSure = ({ when }: Evaluator) => whole.isTrue || when === true;
  const found = evaluatorsOf(whole).filter((one) => whole.type === "object" || isSure(one));
  const keys = [...new Set(found.flatMap((one) => one.keys))];
  // A name that matches a pattern may be evaluated by another one, too.
  const patterns = found
    .filter(isSure)
    .flatMap((one) => one.patterns.map((own) => not(term("pattern", own))));
  const unless = (own: Formula, isIt: (one: Evaluator) => boolean) =>
    any([...found.filter(isIt).map(({ when }) => when), parts(all([own, ...patterns]), whole.is(schema))]);
  return all([
    ...keys.map((key) => unless(values([key]), (one) => one.isAll || one.keys.includes(key))),
    unless(not(values(keys)), ({ isAll }) => isAll),
  ]);
}

function evaluatorsOf({ node: whole, type, isTrue, is }: Whole): Evaluator[] {
  const found: Evaluator[] = [];
  const isList = type === "array";
  const visit = (node: unknown, when: Formula, path: readonly unknown[]): void => {
    if (!isNode(node) || path.includes(node)) return;
    const within = (one: unknown, own: Formula = true) => visit(one, all([when, own]), [...path, node]);
    const { $ref, allOf = [], anyOf = [], oneOf = [], if: condition } = node;
    const isUnknown = "$dynamicRef" in node || ($ref !== undefined && !referred($ref));
    const rest = isList ? "items" : "additionalProperties";
    const isUnevaluated = node !== whole && (isList ? "unevaluatedItems" : "unevaluatedProperties") in node;
    const isAll = rest in node || isUnevaluated || (isUnknown && isTrue);
    const keys = isList ? keysOf(node.prefixItems).map(Number) : keysOf(node.properties);
    found.push({ when, isAll, keys, patterns: isList ? [] : keysOf(node.patternProperties) });
    // Validators differ in what `contains` evaluates: it may be all, or nothing.
    if (isList && "contains" in node && isTrue)
      found.push({ when: true, isAll: true, keys: [], patterns: [] });
    for (const one of [referred($ref)?.schema, ...(allOf as unknown[])]) within(one);
    for (const one of [anyOf, oneOf].flat()) within(one, is(one));
    if (condition !== undefined) for (const one of [condition, node.then]) within(one, is(condition));
    if (condition !== undefined) within(node.else, not(is(condition)));
    for (const [name, one] of membersOf(node.dependentSchemas)) within(one, has(name));
  };
  visit(whole, true, []);
  return found;
}

const translated = new Map<Term, Map<string, Formula>>();
/** What a schema says of values of a type. */
export function translate(schema: Term, type: Type, isTrue: boolean): Formula {
  const known = translated.get(schema) ?? new Map<string, Formula>();
  translated.set(schema, known);
  const [node, isGoal] = [schema.of as Node, schema.is === "goal"];
  const say = (keyword: string): Formula => {
    const range = RANGES[keyword];
    if (isText(keyword) || (range !== undefined && !includesType(range, type))) return true;
    const whole = { node, type, isGoal, isTrue, is: (one: unknown) => fulfils(one, isGoal) };
    return KEYWORDS[keyword]?.(node[keyword] as never, whole) ?? term(keyword, node[keyword]);
  };
  const result = known.get(`${type} ${isTrue}`) ?? all(Object.keys(node).map(say));
  known.set(`${type} ${isTrue}`, result);
  return result;
}
