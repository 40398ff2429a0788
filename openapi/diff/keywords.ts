/** What each keyword of JSON Schema says about values of one type, as a formula. */

import { EXTENSIONS } from "./extensions.ts";
import type { Formula, Key, Term } from "./formula.ts";
import { all, any, counted, fulfils, has, not, part, parts, term, values } from "./formula.ts";
import { includesType, isNode, memberOf, membersOf, type Node, type Type, typeOf } from "./json-pointer.ts";
import { ajv, idOf, isText, referred, unify } from "./read-schema.ts";

/** Keywords that limit no value; and these with those that another keyword reads. */
export const UNLIMITING = ["deprecated", "default", "discriminator"];
const SILENT = [...UNLIMITING, "then", "else", "minContains", "maxContains"];
/** Whether a keyword limits values of a type. */
function isAbout(keyword: string, type: Type): boolean {
  if (SILENT.includes(keyword) || isText(keyword)) return false;
  if (keyword in EXTENSIONS) return EXTENSIONS[keyword]?.toSchema !== undefined;
  const { type: types = [] } = ajv.getKeyword(keyword) as { type?: string[] };
  return types.length === 0 || includesType(types, type);
}

type Whole = {
  readonly node: Node;
  readonly type: Type;
  readonly isExpected: boolean;
  /** Whether the schema is taken to hold: then its formula may say less than it does, and otherwise more. */
  readonly isTrue: boolean;
  readonly is: (schema: unknown) => Formula;
};
const keysOf = (value: unknown) => Object.keys(value ?? {});
/** What each keyword says. One that isn't here is a term by itself, of which only its opposite is known. */
const KEYWORDS: Readonly<Record<string, (value: never, whole: Whole) => Formula>> = {
  type: (types, { type }) => includesType(types, type),
  enum: (list: unknown, { type }) => oneOfThese([list].flat(), type),
  const: (value, { type }) => oneOfThese([value], type),
  $ref: (name, { is }) => (referred(name) ? is(referred(name)?.schema) : term("$ref", name)),
  not: (schema, { is }) => not(is(schema)),
  allOf: (schemas: unknown[], { is }) => all(schemas.map(is)),
  anyOf: (schemas: unknown[], { is }) => any(schemas.map(is)),
  oneOf: (schemas: unknown[], { is }) => {
    const branches = schemas.map(is);
    const isLast = branches.map((one, at) => any([not(one), all(branches.slice(at + 1).map(not))]));
    return all([any(branches), ...isLast]);
  },
  if: (condition, { node, is }) =>
    all([any([not(is(condition)), is(node.then)]), any([is(condition), is(node.else)])]),

  required: (names: string[]) => all(names.map(has)),
  properties: (schemas, { node, is, isExpected, isTrue }) => {
    const own = membersOf(schemas).map(([name, one]) =>
      term(isExpected ? "expectedField" : "part", name, is(one)),
    );
    return all([...own, isTrue && !isExpected && node.type === "object" ? term("sendsDeclared") : true]);
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
  const sure = found.filter(isSure).flatMap((one) => one.patterns);
  const patterns = sure.map((pattern) => not(term("pattern", pattern)));
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
    // Validators differ in what `contains` evaluates: it may be all, or nothing.
    const mayBeAll = isTrue && (isUnknown || (isList && "contains" in node));
    const isAll = rest in node || isUnevaluated || mayBeAll;
    const keys = isList ? keysOf(node.prefixItems).map(Number) : keysOf(node.properties);
    found.push({ when, isAll, keys, patterns: isList ? [] : keysOf(node.patternProperties) });
    for (const one of [referred($ref)?.schema, ...(allOf as unknown[])]) within(one);
    for (const one of [anyOf, oneOf].flat()) within(one, is(one));
    if (condition !== undefined) for (const one of [condition, node.then]) within(one, is(condition));
    if (condition !== undefined) within(node.else, not(is(condition)));
    for (const [name, one] of membersOf(node.dependentSchemas)) within(one, has(name));
  };
  visit(whole, true, []);
  return found;
}

const translated = new Map<string, Formula>();
/** What follows for values of a type from a schema, or from its opposite. */
export function translate(schema: Term, type: Type, isTrue: boolean): Formula {
  const key = `${idOf(schema)} ${type} ${isTrue}`;
  const [node, isExpected] = [schema.of as Node, schema.is === "expected"];
  const whole = { node, type, isExpected, isTrue, is: (one: unknown) => fulfils(one, isExpected) };
  const say = (keyword: string): Formula => {
    if (!isAbout(keyword, type)) return true;
    const same = EXTENSIONS[keyword]?.toSchema?.(node[keyword] as never);
    if (same) return whole.is(unify(same));
    return KEYWORDS[keyword]?.(node[keyword] as never, whole) ?? term(keyword, node[keyword]);
  };
  const said = () => all(Object.keys(node).map(say));
  const formula = translated.get(key) ?? (isTrue ? said() : not(said()));
  translated.set(key, formula);
  return formula;
}
