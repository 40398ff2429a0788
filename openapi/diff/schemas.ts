import { isDeepStrictEqual } from "node:util";
import { isContained } from "./containment.ts";
import { isNode, locate, memberOf, membersOf, type Node, nameAt, step } from "./document.ts";
import { type Effect, EXTENSIONS } from "./extensions.ts";
import { gather } from "./facts.ts";
import { type Finding, levelOf, type Use } from "./law.ts";
import { idOf, isSame, LIST, type Located, MAP, ONE, referred, type Schema, saysTheSame } from "./schema.ts";
import { RANGES } from "./violations.ts";

type Pair = readonly [base: Located, revision: Located];
/** A finding is proven when the schemas alone decide it, and no promise beside them. */
type Proven = Finding & { readonly isProven?: boolean };
type Walk = { readonly use: Use; readonly seen: Set<unknown>; readonly findings: Proven[] };

const compared = new Map<string, readonly Proven[]>();

/**
 * Every difference between two schemas, rated by whom it affects. Keywords are rated one by one; then the whole has the last word:
 * if it provably breaks nobody, no keyword does, and if that isn't proven, something is major.
 */
export function compareSchemas(pair: Pair, use: Use): Finding[] {
  if (isSame(pair[0].schema, pair[1].schema)) return [];
  const ids = pair.map(({ schema, pointer }) => (isNode(schema) ? idOf(schema) : pointer + schema));
  const key = `${ids} ${use.direction}`;
  const known = compared.get(key) ?? compareOnce(pair, use);
  compared.set(key, known);
  return known.map((one) => ({ ...one, use }));
}

function compareOnce(pair: Pair, use: Use): readonly Proven[] {
  const walk: Walk = { use, seen: new Set(), findings: [] };
  compare(walk, pair, pair);
  const [base, revision] = [pair[0].schema, pair[1].schema];
  const [sub, sup] = use.direction === "request" ? [base, revision] : [revision, base];
  const isMajor = ({ level }: Finding) => level === "major";
  if (isContained(sub, sup))
    return walk.findings.map((one) => (isMajor(one) && one.isProven ? { ...one, level: "minor" } : one));
  const unproven = { isAssumed: true, schemas: [sub, sup] } as const;
  if (!walk.findings.some(isMajor))
    report(walk, pair[1].pointer, "changed, and nothing proves that this breaks nobody", "unknown", unproven);
  return walk.findings;
}

function report(
  { use, findings }: Walk,
  pointer: string,
  what: string,
  effect: Effect,
  more?: Partial<Proven>,
) {
  findings.push({ pointer, use, what, effect, level: levelOf(effect, use.direction), ...more });
}

/** The effect of replacing one schema by another, by what each allows. */
function effectOf(base: Schema, revision: Schema): Effect {
  const [grows, shrinks] = [isContained(base, revision), isContained(revision, base)];
  if (grows) return shrinks ? "none" : "loosened";
  return shrinks ? "tightened" : "changed";
}

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
const KNOWN = [...Object.keys(RANGES), ...ONE, ...LIST, ...MAP, ...PARTNERS.flat(), "type", "format"];

/** Compares keyword by keyword. `whole` are the schemas around these that apply to the same value. */
function compare(walk: Walk, pair: Pair, whole: Pair): void {
  const both: Pair = [follow(pair[0]), follow(pair[1])];
  const [{ schema: base }, { schema: revision, pointer }] = both;
  if (walk.seen.has(revision) || isSame(base, revision)) return;
  if (isNode(revision)) walk.seen.add(revision);
  const isWritten = walk.use.direction === "request";
  const isLimited = (schema: Schema) => isNode(schema) && Object.keys(schema).length > 0;
  if (!isLimited(base) || !isLimited(revision)) {
    const what = `${nameAt(pointer)} ${describeChange(base, revision)}`;
    const schemas = isWritten ? ([base, revision] as const) : ([revision, base] as const);
    report(walk, pointer, what, effectOf(base, revision), { isProven: true, schemas });
    return;
  }
  const [old, now] = [base, revision] as [Node, Node];
  for (const keyword of new Set([...Object.keys(old), ...Object.keys(now)])) {
    const values = [old[keyword], now[keyword]] as const;
    const isInBoth = !values.includes(undefined);
    const said = both.map((one) => memberOf(locate(one.view.document, one.pointer)?.value, keyword));
    const rate = (effect: Effect, more?: Partial<Proven>) =>
      report(walk, pointer + step(keyword), `${keyword} ${describeChange(said[0], said[1])}`, effect, more);
    const targets = keyword === "$ref" ? values.map(referred) : [];
    const partners = PARTNERS.find((group) => group.includes(keyword)) ?? [keyword];
    const alone = (node: Node) =>
      Object.fromEntries(membersOf(node).filter(([name]) => partners.includes(name)));
    if (keyword === "properties") compareProperties(walk, both, whole);
    else if (targets[0] && targets[1]) compare(walk, [targets[0], targets[1]], whole);
    else if (isInBoth && LIST.includes(keyword)) compareBranches(walk, both, keyword, whole);
    else if (isInBoth && WALKED.includes(keyword)) {
      const parts = [inner(both[0], keyword), inner(both[1], keyword)] as const;
      compare(walk, parts, parts);
    } else if (saysTheSame(old, now, keyword)) continue;
    else if (keyword in PROMISES) rate(PROMISES[keyword]?.(values, walk.use) ?? "unknown");
    else if (keyword in EXTENSIONS)
      for (const effect of EXTENSIONS[keyword]?.rate(...values) ?? []) rate(effect);
    else if (KNOWN.includes(keyword)) {
      const schemas = isWritten ? ([old, alone(now)] as const) : ([now, alone(old)] as const);
      rate(effectOf(alone(old), alone(now)), { isProven: true, schemas });
    } else rate("unknown", { isAssumed: true });
  }
}

/** Keywords that limit no values, and yet promise something. */
const PROMISES: Readonly<Record<string, (values: readonly [unknown, unknown], use: Use) => Effect>> = {
  deprecated: () => "extended",
  /** What it means that a field is left out. Who reads a value knows what was sent. */
  default: ([before], { direction }) =>
    direction === "response" ? "none" : before === undefined ? "extended" : "changed",
  /** The values of the tag are compared where both mappings list them: without one, the branches are. */
  discriminator: ([before, after]) => {
    const [old = [], now = []] = [before, after].map((one) => Object.keys(memberOf(one, "mapping") ?? {}));
    if (before === undefined || after === undefined) return "extended"; // it limits nothing, and generated code uses it
    if (memberOf(before, "propertyName") !== memberOf(after, "propertyName")) return "changed";
    return old.length === 0 || now.length === 0 ? "none" : effectOf({ enum: old }, { enum: now });
  },
};

function compareProperties(walk: Walk, pair: Pair, whole: Pair): void {
  const names = pair.flatMap(({ schema }) => Object.keys(memberOf(schema, "properties") ?? {}));
  for (const name of new Set(names)) {
    const [old, now] = [declarationOf(name, pair[0], whole[0]), declarationOf(name, pair[1], whole[1])];
    const { pointer, view } = (old ?? now) as Located;
    const [was, is] = [
      old ?? inner(pair[0], "additionalProperties"),
      now ?? inner(pair[1], "additionalProperties"),
    ];
    const isThere = locate(pair[1].view.document, pointer) !== undefined;
    if (old && now) compare(walk, [old, now], [old, now]);
    // Without a type, the schema only limits a field that somebody else may declare.
    else if (!leavesOf(whole[old ? 0 : 1]).some(({ type }) => type === "object"))
      report(walk, pointer, `limit ${old ? "removed" : "added"}`, effectOf(was.schema, is.schema), {
        isProven: true,
      });
    // Programs that build on a field miss it, even where an open object still takes it.
    else if (old) {
      const schemas = [pair[0].schema, pair[1].schema] as const;
      report(walk, pointer, isThere ? `field is ${view.hidden} now` : "field removed", "changed", {
        schemas,
      });
    } else if (isContained(is.schema, false))
      report(walk, pointer, "field forbidden", "tightened", { isProven: true });
    // Nobody has promised what an open object doesn't declare, so that no value of the field can break.
    else
      report(walk, pointer, "field added", isClosed(whole[0]) ? "loosened" : "extended", { isProven: true });
  }
}

const leavesOf = ({ schema }: Located) => [...(gather([schema])?.leaves ?? [])];
const isClosed = (one: Located) =>
  leavesOf(one).some((node) => node.additionalProperties === false || node.unevaluatedProperties === false);

/** The declaration of a field, by a schema or by another that applies to the same value. */
function declarationOf(name: string, ...schemas: readonly Located[]): Located | undefined {
  const reached = new Map(schemas.map((one) => [one.schema, one]));
  for (const one of reached.values()) {
    if (memberOf(memberOf(one.schema, "properties"), name) !== undefined)
      return inner(one, "properties", name);
    const target = referred(memberOf(one.schema, "$ref"));
    // What is added while this runs is visited, too.
    for (const part of [...listed(one, "allOf"), ...(target ? [target] : [])]) reached.set(part.schema, part);
  }
  return undefined;
}

/** Branches are paired by their name or their constants, then by what they say, then by their order. */
function compareBranches(walk: Walk, pair: Pair, keyword: string, whole: Pair): void {
  const [before, after] = [listed(pair[0], keyword), listed(pair[1], keyword)];
  const attempts: ((one: Located, other: Located) => boolean)[] = [
    (one, other) => nameOf(one) !== "" && nameOf(one) === nameOf(other),
    (one, other) => isSame(one.schema, other.schema),
    (one, other) => nameOf(one) === "" || nameOf(other) === "",
  ];
  const hasSamePlace = (one: Located, other: Located) => nameAt(one.pointer) === nameAt(other.pointer);
  for (const isPair of keyword === "prefixItems" ? [hasSamePlace] : attempts)
    for (const one of [...before]) {
      const other = after.find((candidate) => isPair(one, candidate));
      if (!other) continue;
      before.splice(before.indexOf(one), 1);
      after.splice(after.indexOf(other), 1);
      compare(walk, [one, other], whole);
    }
  const [old, now] = pair.map(({ schema }) => ({ [keyword]: memberOf(schema, keyword) })) as [Node, Node];
  const schemas = walk.use.direction === "request" ? ([old, now] as const) : ([now, old] as const);
  for (const branch of [...before, ...after]) {
    const what = `${nameOf(branch) || nameAt(branch.pointer)} ${before.includes(branch) ? "removed" : "added"}`;
    const pointer = pair[1].pointer + step(keyword);
    report(walk, pointer, `${keyword}: ${what}`, effectOf(old, now), { isProven: true, schemas });
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
