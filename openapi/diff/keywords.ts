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
  /** Whether the formula may allow more values than the schema; otherwise it may allow fewer, because it will be negated. */
  readonly mayAllowMore: boolean;
  readonly toFormula: (schema: unknown) => Formula;
};
const keysOf = (value: unknown) => Object.keys(value ?? {});
/** A keyword that is missing here becomes an opaque term: all that is known is that it contradicts its own negation. */
const KEYWORDS: Readonly<Record<string, (value: never, whole: Whole) => Formula>> = {
  type: (types, { type }) => includesType(types, type),
  enum: (list: unknown, { type }) => oneOfThese([list].flat(), type),
  const: (value, { type }) => oneOfThese([value], type),
  $ref: (name, { toFormula }) => (referred(name) ? toFormula(referred(name)?.schema) : term("$ref", name)),
  not: (schema, { toFormula }) => not(toFormula(schema)),
  allOf: (schemas: unknown[], { toFormula }) => all(schemas.map(toFormula)),
  anyOf: (schemas: unknown[], { toFormula }) => any(schemas.map(toFormula)),
  oneOf: (schemas: unknown[], { toFormula }) => {
    const branches = schemas.map(toFormula);
    const isLast = branches.map((one, at) => any([not(one), all(branches.slice(at + 1).map(not))]));
    return all([any(branches), ...isLast]);
  },
  if: (condition, { node, toFormula }) =>
    all([
      any([not(toFormula(condition)), toFormula(node.then)]),
      any([toFormula(condition), toFormula(node.else)]),
    ]),

  required: (names: string[]) => all(names.map(has)),
  properties: (schemas, { node, toFormula, isExpected, mayAllowMore }) => {
    const own = membersOf(schemas).map(([name, one]) =>
      term(isExpected ? "expectedField" : "part", name, toFormula(one)),
    );
    const isSent = mayAllowMore && !isExpected && node.type === "object";
    return all([...own, isSent ? term("sendsDeclared") : true]);
  },
  patternProperties: (schemas, { toFormula }) =>
    all(membersOf(schemas).map(([pattern, one]) => parts(term("pattern", pattern), toFormula(one)))),
  additionalProperties: (schema, { node, toFormula }) => {
    const patterns = keysOf(node.patternProperties).map((pattern) => term("pattern", pattern));
    return parts(not(any([values(keysOf(node.properties)), ...patterns])), toFormula(schema));
  },
  unevaluatedProperties: sayUnevaluated,
  propertyNames: (schema, { toFormula }) => parts(not(toFormula(schema)), false),
  minProperties: (size) => term("minSize", size),
  maxProperties: (size) => term("maxSize", size),
  dependentRequired: (lists) =>
    all(membersOf(lists).map(([name, needed]) => any([not(has(name)), all((needed as string[]).map(has))]))),
  dependentSchemas: (schemas, { toFormula }) =>
    all(membersOf(schemas).map(([name, one]) => any([not(has(name)), toFormula(one)]))),

  minItems: (size) => term("minSize", size),
  maxItems: (size) => term("maxSize", size),
  prefixItems: (schemas: unknown[], { toFormula }) => all(schemas.map((one, at) => part(at, toFormula(one)))),
  items: (schema, { node, toFormula }) =>
    parts(not(values(keysOf(node.prefixItems).map(Number))), toFormula(schema)),
  contains: (schema, { node, toFormula }) =>
    counted(toFormula(schema), Number(node.minContains ?? 1), node.maxContains as number | undefined),
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
  const isSure = ({ when }: Evaluator) => whole.mayAllowMore || when === true;
  const found = evaluatorsOf(whole).filter((one) => whole.type === "object" || isSure(one));
  const keys = [...new Set(found.flatMap((one) => one.keys))];
  // A name that matches a pattern may be evaluated by another one, too.
  const sure = found.filter(isSure).flatMap((one) => one.patterns);
  const patterns = sure.map((pattern) => not(term("pattern", pattern)));
  const formula = whole.toFormula(schema);
  const unless = (own: Formula, isIt: (one: Evaluator) => boolean) =>
    any([...found.filter(isIt).map(({ when }) => when), parts(all([own, ...patterns]), formula)]);
  return all([
    ...keys.map((key) => unless(values([key]), (one) => one.isAll || one.keys.includes(key))),
    unless(not(values(keys)), ({ isAll }) => isAll),
  ]);
}

function evaluatorsOf({ node: whole, type, mayAllowMore, toFormula }: Whole): Evaluator[] {
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
    const mayBeAll = mayAllowMore && (isUnknown || (isList && "contains" in node));
    const isAll = rest in node || isUnevaluated || mayBeAll;
    const keys = isList ? keysOf(node.prefixItems).map(Number) : keysOf(node.properties);
    found.push({ when, isAll, keys, patterns: isList ? [] : keysOf(node.patternProperties) });
    for (const one of [referred($ref)?.schema, ...(allOf as unknown[])]) within(one);
    for (const one of [anyOf, oneOf].flat()) within(one, toFormula(one));
    if (condition !== undefined) for (const one of [condition, node.then]) within(one, toFormula(condition));
    if (condition !== undefined) within(node.else, not(toFormula(condition)));
    for (const [name, one] of membersOf(node.dependentSchemas)) within(one, has(name));
  };
  visit(whole, true, []);
  return found;
}

const translated = new Map<string, Formula>();
/** What follows for a value that is valid for a schema, or isn't. Where that can't be said exactly, too much stays possible. */
export function translate(schema: Term, type: Type, isValid: boolean): Formula {
  const key = `${idOf(schema)} ${type} ${isValid}`;
  const [node, isExpected] = [schema.of as Node, schema.is === "expected"];
  const toFormula = (one: unknown) => fulfils(one, isExpected);
  const whole = { node, type, isExpected, mayAllowMore: isValid, toFormula };
  const say = (keyword: string): Formula => {
    if (!isAbout(keyword, type)) return true;
    const same = EXTENSIONS[keyword]?.toSchema?.(node[keyword] as never);
    if (same) return whole.toFormula(unify(same));
    return KEYWORDS[keyword]?.(node[keyword] as never, whole) ?? term(keyword, node[keyword]);
  };
  const said = () => includesType(node.type ?? type, type) && all(Object.keys(node).map(say));
  const formula = translated.get(key) ?? (isValid ? said() : not(said()));
  translated.set(key, formula);
  return formula;
}
