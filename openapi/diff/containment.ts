import { isDeepStrictEqual } from "node:util";
import { memberOf, membersOf, type Node } from "./document.ts";
import { EXTENSIONS } from "./extensions.ts";
import * as facts from "./facts.ts";
import { all, type Facts, GOAL, gather, least, memberParts, most } from "./facts.ts";
import { idOf, isSame, type Schema, written } from "./schema.ts";
import { isValid } from "./values.ts";
import { has, includesType, lacks, TYPES, type Type, typeOf, violationsOf } from "./violations.ts";

/**
 * Whether every value that is valid for `sub` is proven to be valid for `sup`, too: a value that is valid for one and not for the
 * other is assumed, and refuted in each case. Yes is certain; no means that nothing here proves it. A field that an open object of
 * type `object` doesn't declare counts as not sent.
 */
export function isContained(sub: Schema, sup: Schema): boolean {
  if (isSame(sub, sup)) return true;
  return refutes({ steps: STEPS, open: new Map(), lowest: Infinity, proven: [] }, [sub, { [GOAL]: sup }], 0);
}

/** After as many steps the proof is abandoned, and the answer is no. */
const STEPS = 3000;
const DEPTH = 30;
/** `open` questions by key, `proven` answers that may rest on them, and the outermost one that they rest on. */
type Proof = {
  steps: number;
  readonly open: Map<string, { readonly depth: number; readonly order: number }>;
  readonly proven: string[];
  lowest: number;
};
type IsRefuted = (...parts: unknown[]) => boolean;
const verdicts = new Map<string, boolean>();

/** Whether no value is valid for all schemas. */
function refutes(proof: Proof, schemas: readonly unknown[], depth: number): boolean {
  const known = gather(schemas.map(facts.make));
  if (!known) return true;
  if (depth > DEPTH) return false;
  const never = Array.from(known.never, ([node, isGoal]) => `${isGoal}${idOf(node)}`);
  const key = `${Array.from(known.leaves, idOf).toSorted()}!${never.toSorted()}`;
  const [verdict, opened, before] = [verdicts.get(key), proof.open.get(key), proof.lowest];
  if (verdict !== undefined) return verdict;
  proof.lowest = Math.min(before, opened?.order ?? before);
  if (opened !== undefined) return opened.depth < depth; // the same about a part of the value: whatever is finite ends
  const [order, start] = [proof.open.size, proof.proven.length];
  proof.lowest = Number.POSITIVE_INFINITY;
  proof.open.set(key, { depth, order });
  const result = TYPES.every((type) => refutesCase(proof, type, schemas, new Set(), depth));
  proof.open.delete(key);
  if (result) proof.proven.push(key);
  const isFinal = proof.lowest >= order;
  // What rests on this question alone is proven with it, and is open again without it.
  const resting = isFinal || !result ? proof.proven.splice(start) : [];
  if (isFinal && result) for (const one of resting) verdicts.set(one, true);
  if (isFinal && !result && proof.steps > 0) verdicts.set(key, false);
  proof.lowest = Math.min(before, isFinal ? before : proof.lowest);
  return result;
}

type Done = ReadonlySet<string>;
/** The same for values of one type, after some choices are made. */
function refutesCase(
  proof: Proof,
  type: Type,
  schemas: readonly unknown[],
  done: Done,
  depth: number,
): boolean {
  const known = gather(schemas.map(facts.make));
  if (proof.steps-- < 0) return false;
  if (!known || contradicts(known, type)) return true;
  const inEach = (choice: string, cases: readonly unknown[]) =>
    cases.every((one) => refutesCase(proof, type, [...schemas, one], new Set([...done, choice]), depth));
  const isRefuted: IsRefuted = (...parts) => refutes(proof, parts, depth + 1);
  const open = [...known.never].filter(([node]) => !done.has(`!${idOf(node)}`));
  const expand = ([node, isGoal]: (typeof open)[number]) =>
    inEach(`!${idOf(node)}`, violationsOf(known, type, node, isGoal, isRefuted));
  const first = open.find(([, isGoal]) => isGoal);
  if (first) return expand(first);
  if (type === "array" && contradictsItems(known, isRefuted)) return true;
  if (type === "object" && contradictsMembers(known, isRefuted)) return true;
  for (const node of known.leaves)
    for (const [name, cases] of choicesOf(node))
      if (!done.has(name + idOf(node))) return inEach(name + idOf(node), cases);
  return open[0] !== undefined && expand(open[0]);
}

/** The cases that a schema distinguishes, by keyword. */
function choicesOf({ anyOf, oneOf, if: condition, then = true, else: other = true, dependentSchemas }: Node) {
  const branches = oneOf as unknown[] | undefined;
  const choices = {
    anyOf: anyOf as unknown[] | undefined,
    oneOf: branches?.map((one, index) => ({
      allOf: [one, ...branches.toSpliced(index, 1).map((part) => ({ not: part }))],
    })),
    if:
      condition === undefined
        ? undefined
        : [{ allOf: [condition, then] }, { not: condition, allOf: [other] }],
  };
  const dependent = membersOf(dependentSchemas).map(
    ([name, part]) => [`${name}:`, [lacks(name), { ...has(name), allOf: [part] }]] as const,
  );
  return [...Object.entries(choices), ...dependent].flatMap(([name, cases]) =>
    cases ? [[name, cases] as const] : [],
  );
}

/** Whether the facts exclude each other, as far as that is seen without looking at members and items. */
function contradicts(known: Facts, type: Type): boolean {
  const leaves = [...known.leaves];
  if (!all(known, "type").every((types) => includesType(types, type))) return true;
  if ([...known.never.keys()].some((one) => leaves.some((leaf) => isSame(leaf, one)))) return true;
  if (leaves.some((node) => membersOf(node).some(([name, value]) => isDenied(known, name, value))))
    return true;
  if (fewValues(known, type)?.length === 0) return true;
  if (type === "string") return least(known, "minLength") > most(known, "maxLength");
  if (type === "array") return leastItems(known) > most(known, "maxItems");
  if (type === "object")
    return (
      Math.max(least(known, "minProperties"), facts.requiredOf(known).size) > most(known, "maxProperties")
    );
  const [low, high] = [Math.max(...all<number>(known, "minimum")), most(known, "maximum")];
  const [above, below] = [
    Math.max(...all<number>(known, "exclusiveMinimum")),
    most(known, "exclusiveMaximum"),
  ];
  if (type === "fraction")
    return (
      low > high ||
      above >= Math.min(high, below) ||
      low >= below ||
      all<number>(known, "multipleOf").some(Number.isInteger)
    );
  const [first, last] = [
    Math.max(Math.ceil(low), Math.floor(above) + 1),
    Math.min(Math.floor(high), Math.ceil(below) - 1),
  ];
  return (
    type === "integer" &&
    (first > last || all<number>(known, "!multipleOf").some((one) => Number.isInteger(1 / one)))
  );
}

const WIDER: Readonly<Record<string, string>> = { int32: "int64", float: "double" };
/** Whether a keyword denies what another one says: `!pattern` denies `pattern`. */
function isDenied(known: Facts, name: string, value: unknown): boolean {
  if (!name.startsWith("!")) return false;
  const keyword = name.slice(1);
  return all(known, keyword).some((one) => {
    if (keyword === "format" && WIDER[String(one)] === value) return true;
    if (keyword === "multipleOf" && Number.isInteger(Number(one) / Number(value))) return true;
    return isDeepStrictEqual(one, value) || EXTENSIONS[keyword]?.implies?.(one, value) === true;
  });
}

const SCALAR = ["type", "enum", "const", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "pattern", "format"]; // biome-ignore format: a list
const simple = new WeakMap<Node, Node>();
/** What limits a value without parts directly; no choices, and no references. */
function simplified(node: Node): Node {
  const kept = () => membersOf(node).filter(([name]) => SCALAR.includes(name));
  const denied = () =>
    SCALAR.filter((name) => `!${name}` in node).map((name) => ({ not: { [name]: node[`!${name}`] } }));
  const known = simple.get(node) ?? { ...Object.fromEntries(kept()), allOf: denied() };
  simple.set(node, known);
  return known;
}

/** All values of a type that are left, where these can be listed. */
function fewValues(known: Facts, type: Type): unknown[] | undefined {
  const lists = [...all(known, "enum"), ...all(known, "const").map((one) => [one])];
  const list = type === "null" ? [null] : type === "boolean" ? [true, false] : lists[0];
  const hasParts = type === "array" || type === "object";
  // Schemas that are in no document stand for more than they say about members and items.
  const valid = [...known.leaves].map((node) =>
    !hasParts ? simplified(node) : written.has(node) ? node : true,
  );
  const invalid = hasParts ? [...known.never.keys()] : [];
  return (Array.isArray(list) ? list : undefined)
    ?.filter((value) => typeOf(value) === type && valid.every((one) => isValid(value, one) !== false))
    .filter((value) => invalid.every((one) => isValid(value, one) !== true));
}

const leastItems = (known: Facts) =>
  Math.max(least(known, "minItems"), ...facts.countedIn(known).map(({ min }) => min));

/** Whether items that the list has to have exclude each other. */
function contradictsItems(known: Facts, isRefuted: IsRefuted): boolean {
  const { items } = facts.mentioned(known);
  const at = (index: number) => facts.itemParts(known, index);
  const indexes = (count: number) => Array.from({ length: Math.min(count, items + 1) }, (_, index) => index);
  const min = leastItems(known);
  if (indexes(min).some((index) => isRefuted(...at(index)))) return true;
  const counted = facts.countedIn(known);
  return counted.some((one) => {
    const no = { not: one.part };
    const sure = indexes(min).filter((index) => isRefuted(...at(index), no));
    const rest = sure.includes(items) ? min - items - 1 : 0;
    const isLacking =
      one.min > 0 && indexes(most(known, "maxItems")).every((index) => isRefuted(...at(index), one.part));
    const isExceeded = counted.some((other) => other.min > one.max && isRefuted(other.part, no));
    return isLacking || isExceeded || sure.length + rest > one.max;
  });
}

/** Whether members that the object has to have exclude each other. */
function contradictsMembers(known: Facts, isRefuted: IsRefuted): boolean {
  const { names, patterns } = facts.mentioned(known);
  const namings = all(known, "propertyNames");
  const isNoName = (name: string) => {
    const pattern = facts.patternOf(name);
    if (pattern === undefined) return namings.some((part) => isValid(name, part) === false);
    const said = all(known, "!name").flatMap((one) =>
      memberOf(one, name) === undefined ? [] : [{ [GOAL]: memberOf(one, name) }],
    );
    return isRefuted({ type: "string", ...(pattern && { pattern }) }, ...namings, ...said);
  };
  const isImpossible = (name: string) => isNoName(name) || isRefuted(...memberParts(known, name));
  if ([...facts.requiredOf(known)].some(isImpossible)) return true;
  const min = least(known, "minProperties");
  const others = ["", ...patterns].map((pattern) => facts.otherName([], pattern));
  return min > 0 && others.every(isImpossible) && min > names.filter((name) => !isImpossible(name)).length;
}
