/** Compares the schemas that are used, keyword by keyword, and rates each change by whether one schema contains the other. */
import { isContained } from "./containment.ts";
import { AFTER, ownPointer, type Schema } from "./documents.ts";
import { type Effect, EXTENSIONS, sets } from "./extensions.ts";
import { closure, isEqual, isNode, locate, memberOf, membersOf, nameAt, pairUp, step, targetOf } from "./json-pointer.ts"; // biome-ignore format: one line
import { idOf, type Located, referred, unify } from "./read-schema.ts";
import { type Finding, levelOf, type Use } from "./severity.ts";

type Pair = readonly [base: Located, revision: Located];
export type SchemaUse = { readonly pair: Pair; readonly use: Use };
/** What is found in two schemas. Those of their items, fields and branches are compared by themselves. */
type Comparison = {
  readonly pair: Pair;
  readonly direction: Use["direction"];
  readonly schemas: readonly [writers: Schema, readers: Schema];
  readonly findings: Omit<Finding, "uses">[];
  readonly parts: Set<Comparison>;
  readonly uses: Set<Use>;
};

/** How many uses of a schema are noted: a list of all would take long to make, and nobody reads it. */
export const LISTED = 20;

/** A schema whose change is proven compatible has no major finding; any other has one, be it in one of its parts. */
export function compareSchemas(schemaUses: readonly SchemaUse[]): Finding[] {
  const compared = new Map<string, Comparison>();
  const comparisonOf = (located: Pair, direction: Use["direction"]): Comparison[] => {
    const pair = located.map((one) => ({ ...follow(one), outer: one.outer })) as unknown as Pair;
    if (pair[0].schema === pair[1].schema) return [];
    const key = `${pair.map(({ schema, pointer }) => `${idOf(schema)} ${pointer}`)} ${direction}`;
    const known = compared.get(key);
    if (known) return [known];
    const schemas = writerFirst(pair[0].schema, pair[1].schema, direction);
    const [findings, parts, uses] = [[], new Set<Comparison>(), new Set<Use>()];
    const comparison: Comparison = { pair, direction, schemas, findings, parts, uses };
    compared.set(key, comparison);
    for (const next of compare(comparison)) for (const part of comparisonOf(next, direction)) parts.add(part);
    return [comparison];
  };
  const wholes = new Set<Comparison>();
  for (const { pair, use } of schemaUses)
    for (const whole of comparisonOf(pair, use.direction)) {
      wholes.add(whole);
      recordUse(whole, use);
    }
  const isBroken = ({ schemas }: Comparison) => !isContained(...schemas);
  // The change of a part matters where the whole that it belongs to isn't proven compatible.
  const broken = closure([...wholes].filter(isBroken), ({ parts }) => [...parts].filter(isBroken));
  for (const whole of wholes) {
    if (!broken.has(whole)) continue;
    const all = closure([whole], ({ parts }) => [...parts].filter((part) => broken.has(part)));
    const what = "changed, and not proven to be compatible";
    if ([...all].every(({ findings }) => !findings.some(isMajor)))
      report(whole, whole.pair[1].pointer, what, "unknown", { schemas: whole.schemas });
  }
  return [...compared.values()].flatMap((comparison) => {
    const [writers, readers] = comparison.schemas;
    const isSame = () => isContained(writers, readers) && isContained(readers, writers);
    const rate = (found: Omit<Finding, "uses">) => {
      // What only limits values is minor if the whole schema is compatible, and a patch if it allows exactly the same values.
      if (broken.has(comparison) || !found.schemas || found.isPromise || found.effect === "extended")
        return found;
      if (isSame()) return { ...found, effect: "none", level: "patch" } as const;
      return isMajor(found) ? { ...found, level: "minor" as const } : found;
    };
    return comparison.findings.map((found) => ({ ...rate(found), uses: [...comparison.uses] }));
  });
}
const isMajor = ({ level }: Pick<Finding, "level">) => level === "major";

/** Notes where a comparison and its parts are used. */
function recordUse({ uses, parts }: Comparison, use: Use): void {
  if (uses.size === LISTED || uses.has(use)) return;
  uses.add(use);
  for (const part of parts) recordUse(part, use);
}

const writerFirst = (base: Schema, revision: Schema, direction: Use["direction"]) =>
  direction === "request" ? ([base, revision] as const) : ([revision, base] as const);

function report(comparison: Comparison, at: string, what: string, effect: Effect, more?: Partial<Finding>) {
  const [pointer, level] = [ownPointer(at), levelOf(effect, comparison.direction)];
  comparison.findings.push({ ...more, pointer, what, effect, level });
}

/** Reports how what is allowed changes, by which schema contains the other. */
function reportEffect(comparison: Comparison, pointer: string, what: string, base: Schema, revision: Schema) {
  const [grows, shrinks] = [isContained(base, revision), isContained(revision, base)];
  const effect = grows ? (shrinks ? "none" : "loosened") : shrinks ? "tightened" : "changed";
  report(comparison, pointer, what, effect, { schemas: writerFirst(base, revision, comparison.direction) });
}
/** A part of a schema; any value where there is none. */
function inner({ documents, hidden, pointer, schema }: Located, ...names: string[]): Located {
  const part = names.reduce<unknown>(memberOf, schema) as Schema | undefined;
  return { documents, hidden, schema: part ?? true, pointer: pointer + names.map(step).join("") };
}
const listed = (holder: Located, keyword: string) =>
  Object.keys(memberOf(holder.schema, keyword) ?? []).map((index) => inner(holder, keyword, index));

/** The schema that a bare reference leads to. */
function follow(one: Located): Located {
  const isBare = isNode(one.schema) && Object.keys(one.schema).length === 1;
  return (isBare && referred(memberOf(one.schema, "$ref"))) || one;
}
/** A schema, and all that surely applies to the same value. */
function schemasAround(schema: Located): Located[] {
  const found = new Map([schema, ...(schema.outer ?? [])].map((one) => [one.schema, one]));
  for (const one of found.values())
    for (const other of [...listed(one, "allOf"), referred(memberOf(one.schema, "$ref"))])
      if (other && !found.has(other.schema)) found.set(other.schema, other);
  return [...found.values()];
}

/** Keywords that are rated together, and those whose parts are compared one by one. */
const PARTNERS = [["if", "then", "else"], ["contains", "minContains", "maxContains"], ["prefixItems", "items"], ["const", "enum"]]; // biome-ignore format: one line
const WALKED = ["items", "additionalProperties", "unevaluatedItems", "unevaluatedProperties"];
/** A schema reduced to these keywords. */
const only = (one: Located | undefined, keywords: readonly string[]) =>
  unify(Object.fromEntries(membersOf(one?.schema).filter(([name]) => keywords.includes(name))));

/** What a schema says by a keyword, or of a field. */
type Said = Located & { readonly holder: Located; readonly keyword: string; readonly field?: string };

/** All that is said of a value, by keyword or field. The choice that a branch belongs to is compared where it is made. */
function sayings(schemas: readonly Located[], outer: readonly Located[] = []): Map<string, Said[]> {
  const said = schemas.flatMap((holder) =>
    Object.keys(holder.schema).flatMap((keyword): Said[] => {
      const value = memberOf(holder.schema, keyword);
      if (keyword === "allOf" || (keyword === "$ref" && referred(value))) return [];
      if (["anyOf", "oneOf"].includes(keyword) && outer.includes(holder)) return [];
      if (keyword === "properties") {
        const toField = (field: string) => ({ ...inner(holder, keyword, field), holder, keyword, field });
        return Object.keys(value ?? {}).map(toField);
      }
      const part = inner(holder, keyword);
      const schema = WALKED.includes(keyword) ? part.schema : only(holder, [keyword]);
      return [{ ...part, schema, holder, keyword }];
    }),
  );
  return Map.groupBy(said, ({ keyword, field = "" }) => `${keyword} ${field}`);
}

/** Pairs each removed or changed part with the part that replaces it. Parts that both schemas have are left out. */
function unequal<One extends Located>(was: readonly One[], is: readonly One[], keyOf = (_: One) => "") {
  const without = (list: readonly One[], others: readonly One[]) =>
    list.filter(({ schema }) => !others.some((other) => other.schema === schema));
  return pairUp(without(was, is), without(is, was), keyOf);
}

/** Compares what is said, and returns the parts that are left to compare. */
function compare(comparison: Comparison): Pair[] {
  const [base, revision] = comparison.pair;
  if (comparison.pair.some(({ schema }) => Object.keys(schema).length === 0)) {
    const what = `${nameAt(revision.pointer)} ${describeChange(base.schema, revision.schema)}`;
    reportEffect(comparison, revision.pointer, what, base.schema, revision.schema);
    return [];
  }
  const around = [schemasAround(base), schemasAround(revision)] as const;
  const [before, after] = [sayings(around[0], base.outer), sayings(around[1], revision.outer)];
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((key) => {
    const [was, is] = [before.get(key) ?? [], after.get(key) ?? []];
    return unequal(was, is).flatMap(([old, now]): Pair[] => {
      const { field, keyword } = (old ?? now) as Said;
      if (old && now && (field !== undefined || WALKED.includes(keyword))) return [[old, now]];
      if (old && now && ["anyOf", "oneOf"].includes(keyword))
        return compareBranches(comparison, around, [old, now]);
      if (field === undefined) compareKeyword(comparison, keyword, old, now);
      else compareField(comparison, around, was.length > 0 && is.length > 0, old, now);
      return [];
    });
  });
}
type Around = readonly [was: Located[], is: Located[]];

function compareKeyword(comparison: Comparison, keyword: string, old?: Said, now?: Said): void {
  const [before, after] = [old, now].map((one) => memberOf(one?.holder.schema, keyword));
  const written = (one?: Said) => one && locate(one.documents, one.pointer)?.value;
  const what = `${keyword} ${describeChange(written(old), written(now))}`;
  const { pointer } = (now ?? old) as Said;
  const effects = (PROMISES[keyword] ?? EXTENSIONS[keyword]?.rate)?.(before, after, comparison);
  for (const effect of effects ?? []) report(comparison, pointer, what, effect);
  const partners = PARTNERS.find((group) => group.includes(keyword)) ?? [keyword];
  if (!effects)
    reportEffect(comparison, pointer, what, only(old?.holder, partners), only(now?.holder, partners));
}

/** Keywords that limit no values, and yet promise something. */
const PROMISES: Record<
  string,
  (before: unknown, after: unknown, comparison: Comparison) => readonly Effect[]
> = {
  deprecated: () => ["extended"],
  /** A default says what a missing field means, which matters in requests alone. */
  default: (before, _after, { direction }) =>
    direction === "response" ? [] : [before === undefined ? "extended" : "changed"],
  /** Which schema a value of the tag means; without a mapping, the branches say so. */
  discriminator: (before, after, { pair: [{ documents }] }) => {
    if (before === undefined || after === undefined) return ["extended"]; // it limits nothing, and generated code uses it
    if (memberOf(before, "propertyName") !== memberOf(after, "propertyName")) return ["changed"];
    const mappingOf = (one: unknown) => new Map(membersOf(memberOf(one, "mapping")));
    const [old, now] = [mappingOf(before), mappingOf(after)];
    const toPointer = (to: unknown) => targetOf({ $ref: to }) ?? `/components/schemas/${to}`;
    const isMoved = ([tag, to]: [string, unknown]) => {
      const isRenamed = locate(documents, AFTER + toPointer(to)) === undefined;
      return now.has(tag) && toPointer(to) !== toPointer(now.get(tag)) && !isRenamed;
    };
    if (old.size === 0 || now.size === 0) return [];
    return [
      ...sets("loosened", "tightened")([...old.keys()], [...now.keys()]),
      ...[...old].filter(isMoved).map(() => "changed" as const),
    ];
  },
};

/** A declaration of a field on one side; `isKept` if the other side has one, too. */
function compareField(comparison: Comparison, around: Around, isKept: boolean, old?: Said, now?: Said): void {
  const { documents, pointer, hidden, holder } = (old ?? now) as Said;
  const twin = around[old ? 1 : 0].find((one) => ownPointer(one.pointer) === ownPointer(holder.pointer));
  const rest = twin ? inner(twin, "additionalProperties").schema : true;
  const [was, is] = [old?.schema ?? rest, now?.schema ?? rest];
  const isThere = locate(documents, AFTER + ownPointer(pointer)) !== undefined;
  const rate = (what: string, effect: Effect, isPromise = false) =>
    report(comparison, pointer, what, effect, { schemas: comparison.schemas, isPromise });
  const isTyped = around[old ? 0 : 1].some(({ schema }) => memberOf(schema, "type") === "object");
  // Without a type, the schema only limits a field that somebody else may declare.
  if (isKept || !isTyped) reportEffect(comparison, pointer, `limit ${old ? "removed" : "added"}`, was, is);
  // Programs that build on a field miss it, even where an open object still takes it.
  else if (old) rate(isThere ? `field is ${hidden} now` : "field removed", "changed", true);
  else if (isContained(is, false)) rate("field forbidden", "tightened");
  // An open object never promised this field, so adding it breaks nobody.
  else rate("field added", around[0].some(isClosed) ? "loosened" : "extended");
}
const isClosed = ({ schema }: Located) =>
  ["additionalProperties", "unevaluatedProperties"].some((name) => memberOf(schema, name) === false);

/** Branches are paired by the name that refers to them, or else by their order. */
function compareBranches(comparison: Comparison, around: Around, [old, now]: readonly [Said, Said]): Pair[] {
  const [was = [], is = []] = [old, now].map(({ holder, keyword }) => listed(holder, keyword));
  const within = (side: 0 | 1, branch: Located): Located => ({ ...branch, outer: around[side] });
  const nameOf = (branch: Located) => (follow(branch) === branch ? "" : nameAt(follow(branch).pointer));
  return unequal(was, is, nameOf).flatMap(([one, other]): Pair[] => {
    if (one && other) return [[within(0, one), within(1, other)]];
    const branch = (one ?? other) as Located;
    const what = `${now.keyword}: ${nameOf(branch) || nameAt(branch.pointer)} ${one ? "removed" : "added"}`;
    reportEffect(comparison, now.pointer, what, old.schema, now.schema);
    return [];
  });
}

/** Says how a value changed: `changed from 64 to 65`, `gained "OTHER"`. */
export function describeChange(before: unknown, after: unknown): string {
  if (isEqual(before, after)) return "refers to what has changed";
  if (before === undefined) return `added: ${shorten(after)}`;
  if (after === undefined) return `removed: ${shorten(before)}`;
  if (!Array.isArray(before) || !Array.isArray(after))
    return `changed from ${shorten(before)} to ${shorten(after)}`;
  const only = (verb: string, list: unknown[], others: unknown[]) => {
    const own = list.filter((one) => !others.some((other) => isEqual(one, other)));
    return own.length > 0 ? [`${verb} ${own.map((one) => shorten(one)).join(", ")}`] : [];
  };
  const changes = [...only("gained", after, before), ...only("lost", before, after)];
  return changes.join(" and ") || "is in another order";
}

/** A value as JSON, cut after some characters. */
export function shorten(value: unknown, length = 80): string {
  const text = JSON.stringify(value)?.replaceAll(`"#${AFTER}/`, '"#/') ?? "nothing";
  return text.length > length ? `${text.slice(0, length - 1)}…` : text;
}
