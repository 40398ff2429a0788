import { isNode, memberOf, membersOf, type Node } from "./document.ts";
import { EXTENSIONS } from "./extensions.ts";
import { isText, referred, written } from "./schema.ts";

/**
 * What is known of a value: all keywords of `leaves` apply to it, and it is valid for none of `never`, with `true` for those that are
 * the goal of a proof.
 */
export type Facts = { readonly leaves: ReadonlySet<Node>; readonly never: ReadonlyMap<Node, boolean> };
/** Like `not`, for the goal of a proof. */
export const GOAL = "!goal";

const made = new Map<string, Node>();
/** A schema that is in no document: the first one that says the same. */
export function make(schema: unknown): unknown {
  if (!isNode(schema) || written.has(schema)) return schema;
  const text = JSON.stringify(schema, (_name, part) => (written.has(part) ? written.get(part) : part));
  made.set(text, made.get(text) ?? schema);
  return made.get(text);
}

/** What schemas that all apply to one value say together; undefined when no value fulfils them. */
export function gather(schemas: readonly unknown[]): Facts | undefined {
  const leaves = new Set<Node>();
  const never = new Map<Node, boolean>();
  let isFalse = false;
  const add = (schema: unknown): void => {
    isFalse ||= schema === false;
    if (!isNode(schema) || leaves.has(schema)) return;
    leaves.add(schema);
    for (const part of [referred(schema.$ref)?.schema, ...((schema.allOf ?? []) as unknown[])]) add(part);
    for (const name of ["not", GOAL]) if (name in schema) exclude(schema[name], name === GOAL);
  };
  const exclude = (schema: unknown, isGoal: boolean): void => {
    const [only = "", ...others] = isNode(schema) ? Object.keys(schema).filter(limits) : [];
    isFalse ||= schema === true || (isNode(schema) && only === "");
    if (!isNode(schema) || never.get(schema) || never.get(schema) === isGoal) return;
    const target = only === "$ref" && others.length === 0 ? referred(schema.$ref) : undefined;
    if (target) exclude(target.schema, isGoal);
    else if (only === "not" && others.length === 0) add(schema.not);
    else if (only === "anyOf" && others.length === 0)
      for (const one of schema.anyOf as unknown[]) exclude(one, isGoal);
    else never.set(schema, isGoal);
  };
  for (const schema of schemas) add(schema);
  return isFalse ? undefined : { leaves, never };
}

/** Whether a keyword limits values. */
export const limits = (keyword: string) =>
  !isText(keyword) &&
  !["deprecated", "default", "discriminator"].includes(keyword) &&
  (!(keyword in EXTENSIONS) || EXTENSIONS[keyword]?.implies !== undefined);

/** All values of a keyword that apply. */
export const all = <Value>({ leaves }: Facts, keyword: string): Value[] =>
  [...leaves].flatMap((node) => (keyword in node ? [node[keyword] as Value] : []));
export const least = (facts: Facts, keyword: string) => Math.max(0, ...all<number>(facts, keyword));
export const most = (facts: Facts, keyword: string) =>
  Math.min(Number.POSITIVE_INFINITY, ...all<number>(facts, keyword));

/** The members that the value has to have, also because of others. */
export function requiredOf(facts: Facts): Set<string> {
  const required = new Set(all<string[]>(facts, "required").flat());
  const dependent = all<Node>(facts, "dependentRequired");
  // Names that are added while this runs are visited, too.
  for (const name of required)
    for (const one of dependent.flatMap((list) => (memberOf(list, name) ?? []) as string[]))
      required.add(one);
  return required;
}

/** How many items have to match which schema. */
export const countedIn = ({ leaves }: Facts) =>
  [...leaves]
    .filter((node) => "contains" in node)
    .map((node) => ({
      part: node.contains,
      min: Number(node.minContains ?? 1),
      max: Number(node.maxContains ?? Infinity),
    }));

/** How far schemas inside another one are followed: while they surely apply to the same value, perhaps, or in any way. */
const SURELY = ["allOf"];
const PERHAPS = [...SURELY, "anyOf", "oneOf", "if", "then", "else", "dependentSchemas"];
const ANYHOW = [...PERHAPS, "not", GOAL];

type Without = Facts["never"];

function reach(schema: unknown, keywords: readonly string[], without: Without, found = new Set<Node>()) {
  if (!isNode(schema) || found.has(schema) || without.has(schema)) return found;
  found.add(schema);
  reach(referred(schema.$ref)?.schema, keywords, without, found);
  for (const name of keywords) {
    const value = schema[name];
    const hasParts = Array.isArray(value) || name === "dependentSchemas";
    for (const part of hasParts ? Object.values(value ?? {}) : [value]) reach(part, keywords, without, found);
  }
  return found;
}

/** The names, patterns and number of first items that schemas name, or all. `isOpen`: only `properties` limits members. */
type Named = { names: string[]; patterns: string[]; items: number; isAll: boolean; isOpen: boolean };
const keysOf = (value: unknown) => membersOf(value).map(([name]) => name);
const CLOSING = ["additionalProperties", "unevaluatedProperties", "patternProperties", "propertyNames"];
const ALL = Number.MAX_SAFE_INTEGER;

function namedIn(schema: Node, keywords: readonly string[], without: Without = new Map()): Named {
  const nodes = [...reach(schema, keywords, without)];
  const inner = nodes.slice(1);
  const isOneOf = (list: readonly Node[], ...names: string[]) =>
    list.some((node) => names.some((name) => name in node));
  const perhaps = keywords === PERHAPS;
  const isUnknown =
    perhaps && nodes.some((node) => "$dynamicRef" in node || ("$ref" in node && !referred(node.$ref)));
  const isWhole =
    isOneOf(nodes, "items", ...(perhaps ? ["contains"] : [])) || isOneOf(inner, "unevaluatedItems");
  return {
    names: nodes.flatMap((node) => [
      ...keysOf(node.properties),
      ...(keywords === ANYHOW ? mentionedIn(node) : []),
    ]),
    patterns: nodes.flatMap((node) => keysOf(node.patternProperties)),
    isAll: isUnknown || isOneOf(nodes, "additionalProperties") || isOneOf(inner, "unevaluatedProperties"),
    isOpen: !isOneOf(nodes, ...CLOSING),
    items:
      (isWhole || isUnknown) && keywords !== ANYHOW
        ? ALL
        : Math.max(
            0,
            ...nodes.map(({ prefixItems }) => keysOf({ ...((prefixItems ?? []) as object) }).length),
          ),
  };
}

const mentionedIn = ({ required, dependentRequired, dependentSchemas }: Node) => [
  ...((required ?? []) as string[]),
  ...keysOf(dependentSchemas),
  ...membersOf(dependentRequired).flatMap(([name, names]) => [name, ...(names as string[])]),
];

export const surelyNamed = (schema: Node) => namedIn(schema, SURELY);

const mentions = new WeakMap<Node, Named>();
/** Everything that any of the facts names. All other names are alike, and so are all further items. */
export function mentioned({ leaves, never }: Facts) {
  const all = [...leaves, ...never.keys()].map((node) => {
    mentions.set(node, mentions.get(node) ?? namedIn(node, ANYHOW));
    return mentions.get(node) as Named;
  });
  return {
    names: [...new Set(all.flatMap(({ names }) => names))],
    patterns: [...new Set(all.flatMap(({ patterns }) => patterns))],
    items: Math.max(0, ...all.map(({ items }) => items)),
  };
}

/** A name that no fact mentions. It stands for all names that match a pattern, or for those that match none. */
export const otherName = (names: readonly string[], pattern: string) =>
  `\0${pattern}\0${names.filter((name) => name.startsWith("\0")).length}`;
export const patternOf = (name: string) =>
  name.startsWith("\0") ? name.slice(1, name.lastIndexOf("\0")) : undefined;

/** Whether a name matches; undefined when that isn't known. */
export function matches(pattern: string, name: string): boolean | undefined {
  const own = patternOf(name);
  if (own !== undefined) return own === pattern || (own === "" ? false : undefined);
  try {
    return new RegExp(pattern, "u").test(name);
  } catch {
    return undefined;
  }
}

/** The schemas of one member, from all that apply to the object. */
export function memberParts({ leaves, never }: Facts, name: string): unknown[] {
  return [...leaves].flatMap((node) => {
    const own = memberOf(node.properties, name);
    const patterns = membersOf(node.patternProperties).filter(
      ([pattern]) => matches(pattern, name) !== false,
    );
    const sure = patterns.filter(([pattern]) => matches(pattern, name)).map(([, part]) => part);
    if (own !== undefined) return [own, ...sure];
    if (patterns.length > 0 || "additionalProperties" in node)
      return patterns.length > 0 ? sure : [node.additionalProperties];
    if (!("unevaluatedProperties" in node)) return [];
    const perhaps = namedIn(node, PERHAPS, never);
    const isEvaluated =
      perhaps.names.includes(name) || perhaps.patterns.some((one) => matches(one, name) !== false);
    return perhaps.isAll || isEvaluated ? [] : [node.unevaluatedProperties];
  });
}

/** The schemas of one item, from all that apply to the list. */
export function itemParts({ leaves, never }: Facts, index: number): unknown[] {
  return [...leaves].flatMap((node) => {
    const own = memberOf(node.prefixItems, index);
    if (own !== undefined || "items" in node) return [own ?? node.items];
    const isLeft = "unevaluatedItems" in node && index >= namedIn(node, PERHAPS, never).items;
    return isLeft ? [node.unevaluatedItems] : [];
  });
}

/** Whether the facts describe an open object by its fields, and this is none of them: what nobody declares, nobody sends. */
export function isUndeclared({ leaves }: Facts, name: string): boolean {
  const nodes = [...leaves];
  return (
    nodes.some((node) => node.type === "object" && isNode(node.properties)) &&
    nodes.map((node) => namedIn(node, PERHAPS)).every((one) => one.isOpen && !one.names.includes(name))
  );
}
