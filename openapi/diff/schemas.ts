import { isDeepStrictEqual } from "node:util";
import { isNode, locate, memberOf, membersOf, type Node, nameAt, step } from "./document.ts";
import { type Effect, EXTENSIONS, sets } from "./extensions.ts";
import { type Finding, levelOf, type Use } from "./law.ts";
import { isContained } from "./proof.ts";
import { type Located, referred, type Schema, unify } from "./schema.ts";

type Pair = readonly [base: Located, revision: Located];
/** The findings of this schema, and of the schemas of its items and fields. */
type Compared = { readonly findings: Finding[]; readonly inner: Compared[]; total?: readonly Finding[] };
type Walk = Compared & { readonly use: Use; readonly seen: Set<unknown> };

const compared = new WeakMap<object, Map<string, Compared>>();

/**
 * Every difference between two schemas, rated by whom it affects. Keywords are rated one by one. If the whole change is proven
 * compatible, none of them stays major; if it isn't, at least one is.
 */
export function compareSchemas(pair: Pair, use: Use): Finding[] {
  if (pair[0].schema === pair[1].schema) return [];
  const whole = compareOnce(pair, use);
  whole.total ??= withVerdict(pair, use, whole);
  return whole.total.map((one) => ({ ...one, use }));
}

function compareOnce(pair: Pair, use: Use): Compared {
  const known = compared.get(pair[1].document as object) ?? new Map<string, Compared>();
  compared.set(pair[1].document as object, known);
  const key = `${pair[0].pointer} ${pair[1].pointer} ${use.direction}`;
  const walk: Walk = { use, seen: new Set(), findings: [], inner: [] };
  const found = known.get(key) ?? walk;
  known.set(key, found);
  if (found === walk) compare(walk, pair, pair);
  return found;
}

function withVerdict(pair: Pair, use: Use, whole: Compared): Finding[] {
  const reached = new Set([whole]);
  // What is added while this runs is visited, too.
  for (const { inner } of reached) for (const one of inner) reached.add(one);
  const findings = [...reached].flatMap((one) => one.findings);
  const schemas = inOrder(pair[0].schema, pair[1].schema, use);
  const isDecided = (one: Finding) => one.level === "major" && one.schemas && !one.isPromise;
  if (isContained(...schemas))
    return findings.map((one) => ({ ...one, level: isDecided(one) ? "minor" : one.level }));
  if (findings.some(({ level }) => level === "major")) return findings;
  const what = "changed, and not proven to be compatible";
  return [...findings, { pointer: pair[1].pointer, what, effect: "unknown", level: "major", schemas }];
}
/** The writer's schema and the reader's schema. */
const inOrder = (base: Schema, revision: Schema, { direction }: Use) =>
  direction === "request" ? ([base, revision] as const) : ([revision, base] as const);

function report(
  { use, findings }: Walk,
  pointer: string,
  what: string,
  effect: Effect,
  more?: Partial<Finding>,
) {
  findings.push({ pointer, use, what, effect, level: levelOf(effect, use.direction), ...more });
}

/** How what is allowed changes, by which schema contains the other. */
function effectOf(base: Schema, revision: Schema): Effect {
  const [grows, shrinks] = [isContained(base, revision), isContained(revision, base)];
  return grows ? (shrinks ? "none" : "loosened") : shrinks ? "tightened" : "changed";
}
const reportEffect = (walk: Walk, pointer: string, what: string, base: Schema, revision: Schema): void =>
  report(walk, pointer, what, effectOf(base, revision), { schemas: inOrder(base, revision, walk.use) });

/** A part of a schema; any value where there is none. */
function inner(holder: Located, ...names: string[]): Located {
  const schema = names.reduce<unknown>(memberOf, holder.schema) as Schema | undefined;
  return { ...holder, schema: schema ?? true, pointer: holder.pointer + names.map(step).join("") };
}
const listed = (holder: Located, keyword: string) =>
  Object.keys((memberOf(holder.schema, keyword) ?? []) as object).map((index) =>
    inner(holder, keyword, index),
  );

/** The schema that a bare reference leads to. */
function follow(one: Located): Located {
  const target = isNode(one.schema) && Object.keys(one.schema).length === 1 && referred(one.schema.$ref);
  return target ? follow(target) : one;
}

/** Keywords that are rated together, and those whose parts are compared one by one. */
const PARTNERS = [["if", "then", "else"], ["contains", "minContains", "maxContains"], ["prefixItems", "items"], ["const", "enum"]]; // biome-ignore format: one line
const WALKED = ["items", "additionalProperties", "unevaluatedItems", "unevaluatedProperties"];
/** The schema reduced to these keywords. */
const only = (node: Node, keywords: readonly string[]) =>
  unify(Object.fromEntries(membersOf(node).filter(([name]) => keywords.includes(name))));

/** Compares keyword by keyword. `whole` are the schemas around these that apply to the same value. */
function compare(walk: Walk, pair: Pair, whole: Pair): void {
  const both: Pair = [follow(pair[0]), follow(pair[1])];
  const [{ schema: old }, { schema: now, pointer }] = both;
  if (old === now || walk.seen.has(now)) return;
  walk.seen.add(now);
  const isLimited = (schema: Schema): schema is Node => isNode(schema) && Object.keys(schema).length > 0;
  if (!isLimited(old) || !isLimited(now)) {
    reportEffect(walk, pointer, `${nameAt(pointer)} ${describeChange(old, now)}`, old, now);
    return;
  }
  for (const keyword of new Set([...Object.keys(old), ...Object.keys(now)])) {
    const values = [old[keyword], now[keyword]] as const;
    const isInBoth = !values.includes(undefined);
    const said = both.map((one) => memberOf(locate(one.document, one.pointer)?.value, keyword));
    const [at, what] = [pointer + step(keyword), `${keyword} ${describeChange(said[0], said[1])}`];
    const targets = keyword === "$ref" ? values.map(referred) : [];
    const partners = PARTNERS.find((group) => group.includes(keyword)) ?? [keyword];
    const rate = PROMISES[keyword] ?? EXTENSIONS[keyword]?.rate;
    if (keyword === "properties") compareProperties(walk, both, whole);
    else if (targets[0] && targets[1]) compare(walk, [targets[0], targets[1]], whole);
    else if (isInBoth && ["allOf", "anyOf", "oneOf"].includes(keyword))
      compareBranches(walk, both, keyword, whole);
    else if (isInBoth && WALKED.includes(keyword))
      walk.inner.push(compareOnce([inner(both[0], keyword), inner(both[1], keyword)], walk.use));
    else if (only(old, [keyword]) === only(now, [keyword])) continue;
    else if (rate) for (const effect of rate(...values, walk.use)) report(walk, at, what, effect);
    else reportEffect(walk, at, what, only(old, partners), only(now, partners));
  }
}

/** Keywords that limit no values, and yet promise something. */
const PROMISES: Readonly<Record<string, (before: unknown, after: unknown, use: Use) => Effect[]>> = {
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
    const targets = names
      .filter((name) => name in now)
      .map((name) => [referred(old[name]), referred(now[name])] as const);
    const moved = targets.filter(([was, is]) => was?.pointer !== is?.pointer);
    return [
      ...sets("loosened", "tightened")(names, others),
      ...moved.map(([was, is]) => effectOf(was?.schema ?? true, is?.schema ?? true)),
    ];
  },
};

function compareProperties(walk: Walk, pair: Pair, whole: Pair): void {
  const names = pair.flatMap(({ schema }) => Object.keys(memberOf(schema, "properties") ?? {}));
  const schemas = inOrder(pair[0].schema, pair[1].schema, walk.use);
  for (const name of new Set(names)) {
    const [old, now] = [declarationOf(name, pair[0], whole[0]), declarationOf(name, pair[1], whole[1])];
    if (old && now) walk.inner.push(compareOnce([old, now], walk.use));
    if (old && now) continue;
    const { pointer, hidden } = (old ?? now) as Located;
    const was = old ?? inner(pair[0], "additionalProperties");
    const is = now ?? inner(pair[1], "additionalProperties");
    const isThere = locate(pair[1].document, pointer) !== undefined;
    const rate = (what: string, effect: Effect, isPromise = false) =>
      report(walk, pointer, what, effect, { schemas, isPromise });
    // Without a type, the schema only limits a field that somebody else may declare.
    if (!schemasAround(whole[old ? 0 : 1]).some(({ schema }) => memberOf(schema, "type") === "object"))
      reportEffect(walk, pointer, `limit ${old ? "removed" : "added"}`, was.schema, is.schema);
    // Programs that build on a field miss it, even where an open object still takes it.
    else if (old) rate(isThere ? `field is ${hidden} now` : "field removed", "changed", true);
    else if (isContained(is.schema, false)) rate("field forbidden", "tightened");
    // An open object never promised this field, so adding it breaks nobody.
    else rate("field added", schemasAround(whole[0]).some(isClosed) ? "loosened" : "extended");
  }
}

const isClosed = ({ schema }: Located) =>
  ["additionalProperties", "unevaluatedProperties"].some((name) => memberOf(schema, name) === false);

/** The schemas that surely apply to the same value. */
function schemasAround(...schemas: readonly Located[]): Located[] {
  const reached = new Map(schemas.map((one) => [one.schema, one]));
  // What is added while this runs is visited, too.
  for (const one of reached.values()) {
    const target = referred(memberOf(one.schema, "$ref"));
    for (const part of [...listed(one, "allOf"), ...(target ? [target] : [])]) reached.set(part.schema, part);
  }
  return [...reached.values()];
}

/** The declaration of a field, by a schema or by another that applies to the same value. */
function declarationOf(name: string, ...schemas: readonly Located[]): Located | undefined {
  const holder = schemasAround(...schemas).find(
    ({ schema }) => memberOf(memberOf(schema, "properties"), name) !== undefined,
  );
  return holder && inner(holder, "properties", name);
}

/** Branches are paired by their name or their constants, then by what they say, then by their order. */
function compareBranches(walk: Walk, pair: Pair, keyword: string, whole: Pair): void {
  const [before, after] = [listed(pair[0], keyword), listed(pair[1], keyword)];
  const attempts: ((one: Located, other: Located) => boolean)[] = [
    (one, other) => nameOf(one) !== "" && nameOf(one) === nameOf(other),
    (one, other) => one.schema === other.schema,
    (one, other) => nameOf(one) === "" || nameOf(other) === "",
  ];
  for (const isPair of attempts)
    for (const one of [...before]) {
      const other = after.find((candidate) => isPair(one, candidate));
      if (!other) continue;
      before.splice(before.indexOf(one), 1);
      after.splice(after.indexOf(other), 1);
      compare(walk, [one, other], whole);
    }
  const [old, now] = pair.map(({ schema }) => only(schema as Node, [keyword])) as [Node, Node];
  for (const branch of [...before, ...after]) {
    const what = `${nameOf(branch) || nameAt(branch.pointer)} ${before.includes(branch) ? "removed" : "added"}`;
    reportEffect(walk, pair[1].pointer + step(keyword), `${keyword}: ${what}`, old, now);
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
    return own.length === 0 ? [] : [`${verb} ${own.map((one) => shorten(one)).join(", ")}`];
  };
  const parts = [...only("gained", after, before), ...only("lost", before, after)];
  return parts.join(" and ") || "is in another order";
}

/** A value as JSON, cut after some characters. */
export function shorten(value: unknown, length = 80): string {
  const text = JSON.stringify(value) ?? "nothing";
  return text.length > length ? `${text.slice(0, length - 1)}…` : text;
}
