/** Compares schemas keyword by keyword, and rates the changes of each by whether one schema contains the other. */
import { isDeepStrictEqual } from "node:util";
import { isContained } from "./containment.ts";
import type { Schema } from "./documents.ts";
import { type Effect, EXTENSIONS, sets } from "./extensions.ts";
import { closure, isNode, locate, memberOf, membersOf, type Node, nameAt, pairUp, step } from "./json-pointer.ts"; // biome-ignore format: one line
import { type Direction, type Finding, levelOf, type Use } from "./law.ts";
import { type Located, referred, unify } from "./read-schema.ts";

type Pair = readonly [base: Located, revision: Located];
export type SchemaUse = { readonly schemas: Pair; readonly use: Use };
/** What is found in two schemas. Those of their items and fields are compared by themselves. */
type Comparison = {
  readonly pair: Pair;
  readonly direction: Direction;
  readonly uses: Use[];
  readonly findings: Omit<Finding, "uses">[];
  readonly parts: Pair[];
  readonly holders: Comparison[];
  readonly seen: Set<unknown>;
};

/** So many uses of a schema are listed. */
export const LISTED = 20;

/**
 * Every difference between schemas that are used somewhere, rated by whom it affects. Keywords are rated one by one. If the change of a
 * schema is proven compatible, none of them stays major; if it isn't, one of them is, or one of its parts.
 */
export function compareSchemas(asked: readonly SchemaUse[]): Finding[] {
  const compared = new Map<string, Comparison>();
  const comparisonOf = (schemas: Pair, direction: Direction): Comparison => {
    const pair = [follow(schemas[0]), follow(schemas[1])] as const;
    const key = `${pair[0].pointer} ${pair[1].pointer} ${direction}`;
    const known = compared.get(key);
    const one = known ?? { pair, direction, uses: [], findings: [], parts: [], holders: [], seen: new Set() };
    compared.set(key, one);
    return one;
  };
  const differs = ([base, revision]: Pair) => base.schema !== revision.schema;
  for (const { schemas, use } of asked)
    if (differs(schemas)) comparisonOf(schemas, use.direction).uses.push(use);
  // What is added while this runs is compared, too.
  for (const one of compared.values()) {
    compare(one, one.pair, one.pair);
    for (const part of one.parts.filter(differs)) comparisonOf(part, one.direction).holders.push(one);
  }
  const all = [...compared.values()];
  const withHolders = (list: readonly Comparison[]) => closure(list, ({ holders }) => holders);
  const schemasOf = ({ pair, direction }: Comparison) => inOrder(pair[0].schema, pair[1].schema, direction);
  const kept = new Set(all.filter((one) => isContained(...schemasOf(one))));
  for (const one of kept) one.findings.splice(0, Infinity, ...one.findings.map(demoted));
  const explained = withHolders(all.filter(({ findings }) => findings.some(isMajor)));
  // Parts come after what holds them.
  for (const one of all.toReversed()) {
    if (kept.has(one) || explained.has(one)) continue;
    const what = "changed, and not proven to be compatible";
    report(one, one.pair[1].pointer, what, "unknown", { schemas: schemasOf(one) });
    for (const holder of withHolders([one])) explained.add(holder);
  }
  return all.flatMap((one) => {
    if (one.findings.length === 0) return [];
    const uses = [...withHolders([one])].flatMap((holder) => holder.uses).slice(0, LISTED);
    return one.findings.map((finding) => ({ ...finding, uses }));
  });
}

const isMajor = ({ level }: Pick<Finding, "level">) => level === "major";
/** What is decided by values alone is compatible where the whole is. */
const demoted = (found: Omit<Finding, "uses">) =>
  isMajor(found) && found.schemas && !found.isPromise ? { ...found, level: "minor" as const } : found;

/** The writer's schema and the reader's schema. */
const inOrder = (base: Schema, revision: Schema, direction: Direction) =>
  direction === "request" ? ([base, revision] as const) : ([revision, base] as const);

type More = Pick<Finding, "schemas" | "isPromise">;
const report = (own: Comparison, pointer: string, what: string, effect: Effect, more?: More) =>
  own.findings.push({ pointer, what, effect, level: levelOf(effect, own.direction), ...more });

/** How what is allowed changes, by which schema contains the other. */
function effectOf(base: Schema, revision: Schema): Effect {
  const [grows, shrinks] = [isContained(base, revision), isContained(revision, base)];
  return grows ? (shrinks ? "none" : "loosened") : shrinks ? "tightened" : "changed";
}
const reportEffect = (own: Comparison, pointer: string, what: string, base: Schema, revision: Schema) =>
  report(own, pointer, what, effectOf(base, revision), { schemas: inOrder(base, revision, own.direction) });
/** A part of a schema; any value where there is none. */
function inner(holder: Located, ...names: string[]): Located {
  const schema = names.reduce<unknown>(memberOf, holder.schema) as Schema | undefined;
  return { ...holder, schema: schema ?? true, pointer: holder.pointer + names.map(step).join("") };
}
const listed = (holder: Located, keyword: string) =>
  Object.keys(memberOf(holder.schema, keyword) ?? []).map((index) => inner(holder, keyword, index));

/** The schema that a bare reference leads to. */
function follow(one: Located): Located {
  const isBare = isNode(one.schema) && Object.keys(one.schema).length === 1;
  return (isBare && referred(memberOf(one.schema, "$ref"))) || one;
}

/** Keywords that are rated together, and those whose parts are compared one by one. */
const PARTNERS = [["if", "then", "else"], ["contains", "minContains", "maxContains"], ["prefixItems", "items"], ["const", "enum"]]; // biome-ignore format: one line
const WALKED = ["items", "additionalProperties", "unevaluatedItems", "unevaluatedProperties"];
/** The schema reduced to these keywords. */
const only = (node: Node, keywords: readonly string[]) =>
  unify(Object.fromEntries(membersOf(node).filter(([name]) => keywords.includes(name))));

/** Compares keyword by keyword. `whole` are the schemas around these that apply to the same value. */
function compare(own: Comparison, pair: Pair, whole: Pair): void {
  const both: Pair = [follow(pair[0]), follow(pair[1])];
  const [{ schema: old }, { schema: now, pointer }] = both;
  if (old === now || own.seen.has(now)) return;
  own.seen.add(now);
  const isLimited = (schema: Schema): schema is Node => isNode(schema) && Object.keys(schema).length > 0;
  if (!isLimited(old) || !isLimited(now)) {
    reportEffect(own, pointer, `${nameAt(pointer)} ${describeChange(old, now)}`, old, now);
    return;
  }
  for (const keyword of new Set([...Object.keys(old), ...Object.keys(now)])) {
    const values = [old[keyword], now[keyword]] as const;
    const isInBoth = !values.includes(undefined);
    const targets = keyword === "$ref" ? values.map(referred) : [];
    if (keyword === "properties") compareProperties(own, both, whole);
    else if (targets[0] && targets[1]) compare(own, [targets[0], targets[1]], whole);
    else if (isInBoth && ["allOf", "anyOf", "oneOf"].includes(keyword))
      compareBranches(own, both, keyword, whole);
    else if (isInBoth && WALKED.includes(keyword))
      own.parts.push([inner(both[0], keyword), inner(both[1], keyword)]);
    else if (only(old, [keyword]) !== only(now, [keyword])) compareKeyword(own, both, keyword);
  }
}

function compareKeyword(own: Comparison, pair: Pair, keyword: string): void {
  const [old, now] = pair.map(({ schema }) => schema) as [Node, Node];
  const written = ({ document, pointer }: Located) =>
    memberOf(locate(document.root, pointer)?.value, keyword);
  const what = `${keyword} ${describeChange(written(pair[0]), written(pair[1]))}`;
  const at = pair[1].pointer + step(keyword);
  const effects = (PROMISES[keyword] ?? EXTENSIONS[keyword]?.rate)?.(old[keyword], now[keyword], own);
  for (const effect of effects ?? []) report(own, at, what, effect);
  const partners = PARTNERS.find((group) => group.includes(keyword)) ?? [keyword];
  if (!effects) reportEffect(own, at, what, only(old, partners), only(now, partners));
}

/** Keywords that limit no values, and yet promise something. */
const PROMISES: Readonly<Record<string, (before: unknown, after: unknown, own: Comparison) => Effect[]>> = {
  deprecated: () => ["extended"],
  /** A default says what a missing field means, which matters in requests alone. */
  default: (before, _after, { direction }) =>
    direction === "response" ? [] : [before === undefined ? "extended" : "changed"],
  /** Which schema a value of the tag means; without a mapping, the branches say so. */
  discriminator: (before, after) => {
    if (before === undefined || after === undefined) return ["extended"]; // it limits nothing, and generated code uses it
    if (memberOf(before, "propertyName") !== memberOf(after, "propertyName")) return ["changed"];
    const [old, now] = [before, after].map((one) => memberOf(one, "mapping") as Node) as [Node, Node];
    const [names, others] = [Object.keys(old), Object.keys(now)];
    if (names.length === 0 || others.length === 0) return [];
    const isMoved = (name: string) => {
      const [was, is] = [referred(old[name]), referred(now[name])];
      return name in now && was?.pointer !== is?.pointer && was?.schema !== is?.schema;
    };
    return [
      ...sets("loosened", "tightened")(names, others),
      ...names.filter(isMoved).map(() => "changed" as const),
    ];
  },
};

function compareProperties(own: Comparison, pair: Pair, whole: Pair): void {
  const names = pair.flatMap(({ schema }) => Object.keys(memberOf(schema, "properties") ?? {}));
  const schemas = inOrder(pair[0].schema, pair[1].schema, own.direction);
  const around = [schemasAround(pair[0], whole[0]), schemasAround(pair[1], whole[1])] as const;
  for (const name of new Set(names)) {
    const [old, now] = [declarationOf(name, around[0]), declarationOf(name, around[1])];
    if (old && now) own.parts.push([old, now]);
    if (old && now) continue;
    const { pointer, hidden } = (old ?? now) as Located;
    const was = old ?? inner(pair[0], "additionalProperties");
    const is = now ?? inner(pair[1], "additionalProperties");
    const isThere = locate(pair[1].document.root, pointer) !== undefined;
    const rate = (what: string, effect: Effect, isPromise = false) =>
      report(own, pointer, what, effect, { schemas, isPromise });
    // Without a type, the schema only limits a field that somebody else may declare.
    if (!around[old ? 0 : 1].some(({ schema }) => memberOf(schema, "type") === "object"))
      reportEffect(own, pointer, `limit ${old ? "removed" : "added"}`, was.schema, is.schema);
    // Programs that build on a field miss it, even where an open object still takes it.
    else if (old) rate(isThere ? `field is ${hidden} now` : "field removed", "changed", true);
    else if (isContained(is.schema, false)) rate("field forbidden", "tightened");
    // An open object never promised this field, so adding it breaks nobody.
    else rate("field added", around[0].some(isClosed) ? "loosened" : "extended");
  }
}

const isClosed = ({ schema }: Located) =>
  ["additionalProperties", "unevaluatedProperties"].some((name) => memberOf(schema, name) === false);

/** The schemas that surely apply to the same value. */
function schemasAround(...schemas: readonly Located[]): Located[] {
  const targets = (one: Located) => [referred(memberOf(one.schema, "$ref")) ?? []].flat();
  return [...closure(schemas, (one) => [...listed(one, "allOf"), ...targets(one)])];
}

/** The declaration of a field by one of the schemas that apply to the same value. */
function declarationOf(name: string, schemas: readonly Located[]): Located | undefined {
  const holder = schemas.find(({ schema }) => memberOf(memberOf(schema, "properties"), name) !== undefined);
  return holder && inner(holder, "properties", name);
}

/** Branches that say the same are left out; others are paired by their name or their constants, or else by their order. */
function compareBranches(own: Comparison, pair: Pair, keyword: string, whole: Pair): void {
  const [was, is] = [listed(pair[0], keyword), listed(pair[1], keyword)];
  const without = (list: Located[], others: Located[]) =>
    list.filter(({ schema }) => !others.some((other) => other.schema === schema));
  const [old, now] = pair.map(({ schema }) => only(schema as Node, [keyword])) as [Node, Node];
  for (const [one, other] of pairUp(without(was, is), without(is, was), nameOf)) {
    const branch = (one ?? other) as Located;
    const what = `${nameOf(branch) || nameAt(branch.pointer)} ${one ? "removed" : "added"}`;
    if (one && other) compare(own, [one, other], whole);
    else reportEffect(own, pair[1].pointer + step(keyword), `${keyword}: ${what}`, old, now);
  }
}

/** What tells a branch from others: its constants, or else the name that it is referred to by. */
function nameOf(branch: Located): string {
  const target = follow(branch);
  const constants = membersOf(memberOf(target.schema, "properties")).flatMap(([name, part]) => {
    const list = [memberOf(part, "enum") ?? memberOf(part, "const") ?? []].flat();
    return list.length === 1 ? [`${name} ${JSON.stringify(list[0])}`] : [];
  });
  return constants.join(", ") || (target === branch ? "" : nameAt(target.pointer));
}

/** Says how a value changed: `changed from 64 to 65`, `gained "OTHER"`. */
export function describeChange(before: unknown, after: unknown): string {
  if (isDeepStrictEqual(before, after)) return "refers to what has changed";
  if (before === undefined) return `added: ${shorten(after)}`;
  if (after === undefined) return `removed: ${shorten(before)}`;
  if (!Array.isArray(before) || !Array.isArray(after))
    return `changed from ${shorten(before)} to ${shorten(after)}`;
  const only = (verb: string, list: unknown[], others: unknown[]) => {
    const own = list.filter((one) => !others.some((other) => isDeepStrictEqual(one, other)));
    return own.length > 0 ? [`${verb} ${own.map((one) => shorten(one)).join(", ")}`] : [];
  };
  return (
    [...only("gained", after, before), ...only("lost", before, after)].join(" and ") || "is in another order"
  );
}

/** A value as JSON, cut after some characters. */
export function shorten(value: unknown, length = 80): string {
  const text = JSON.stringify(value) ?? "nothing";
  return text.length > length ? `${text.slice(0, length - 1)}…` : text;
}
