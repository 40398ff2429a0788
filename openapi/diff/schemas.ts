import { isDeepStrictEqual } from "node:util";
import { allowedList, describeChange, type Effect, unclear } from "../document/comparisons.ts";
import { KEYWORDS, keywordsHolding } from "../document/keywords.ts";
import { isNode, type Node } from "../document/node.ts";
import { nameAt, step } from "../document/pointer.ts";
import { type Direction, type Finding, levelOf } from "./change.ts";
import { at, namesIn, type Pair, type Part } from "./part.ts";

/** Where a schema is used, and who writes and reads its values. */
export type Use = {
  readonly name: string;
  readonly direction: Direction;
  /** Whether the properties of the schema limit fields that it doesn't declare, as in a condition. */
  readonly isConstraint?: boolean;
};

/** Keywords whose value is a schema that the instance, or a part of it, must match. Another condition has unclear effects. */
const SCHEMAS = [...keywordsHolding("schema", "condition"), "additionalProperties"].filter(
  (keyword) => keyword !== "if",
);
const BRANCHES = keywordsHolding("branches");
/** Keywords whose value is not compared as a whole. */
const SPLIT = [...SCHEMAS, ...BRANCHES, "properties", "const", "enum", "discriminator", "$ref"];

/** Every difference between two schemas, rated by whom it affects. References are followed. */
export function compareSchemas(pair: Pair, use: Use, within: readonly Pair[] = []): Finding[] {
  const { base, revision } = pair;
  const isSame = (one: Pair) => one.base.value === base.value && one.revision.value === revision.value;
  if (within.some(isSame)) return []; // a recursive schema
  const inner = [...within, pair];
  const [old, now] = [nodeOf(base), nodeOf(revision)];
  if (!old || !now) return old === now ? [] : [compareWithNothing(pair, old ? "tightened" : "loosened", use)];

  const keywords = [...new Set([...Object.keys(old), ...Object.keys(now)])];
  // A schema where there was none limits fields that could have any value before.
  const isConstraint = use.isConstraint || isEmpty(old) || isEmpty(now);
  const parts = { ...use, isConstraint };
  return [
    ...keywords
      .filter((keyword) => !SPLIT.includes(keyword))
      .flatMap((keyword) => rate(pair, keyword, effectsOf(keyword, old[keyword], now[keyword]), use)),
    ...compareValues(pair, use),
    ...compareProperties(pair, parts, inner),
    ...SCHEMAS.flatMap((keyword) => compareInner(pair, keyword, parts, inner)),
    ...BRANCHES.flatMap((keyword) => compareBranches(pair, keyword, parts, inner)),
    ...compareDiscriminators(pair, use),
  ];
}

/** The keywords of a schema: `true` has none, like a schema that is absent; undefined for `false`. */
function nodeOf({ value = true }: Part): Node | undefined {
  return value === true ? {} : isNode(value) ? value : undefined;
}

function isEmpty(schema: Node): boolean {
  return Object.keys(schema).length === 0;
}

/** One finding for each effect of one change, at the keyword. */
function rate(pair: Pair, keyword: string, effects: readonly Effect[], use: Use): Finding[] {
  const [before, after] = [at(pair.base, keyword), at(pair.revision, keyword)];
  return effects.map((effect) => ({
    pointer: pair.revision.pointer + step(keyword),
    use: use.name,
    what:
      effect === "cosmetic"
        ? `${keyword} changed`
        : `${keyword} ${describeChange(before.value, after.value)}`,
    level: levelOf(effect, use.direction),
  }));
}

/** The effects of changing one keyword. For an unknown keyword, the worst is assumed. */
function effectsOf(keyword: string, before: unknown, after: unknown): Effect[] {
  const { compare = unclear, idle } = KEYWORDS[keyword] ?? {};
  const [old, now] = [before, after].map((value) => (value === idle ? undefined : value));
  return isDeepStrictEqual(old, now) ? [] : compare(old, now);
}

/** One of the two schemas is `false`, which allows nothing. */
function compareWithNothing({ base, revision }: Pair, effect: Effect, { name, direction }: Use): Finding {
  const what = `${nameAt(revision.pointer)} ${describeChange(base.value, revision.value)}`;
  return { pointer: revision.pointer, use: name, what, level: levelOf(effect, direction) };
}

/** A constant and a list with one value are the same. */
function compareValues(pair: Pair, use: Use): Finding[] {
  const listOf = (part: Part) => {
    const { const: only, enum: list } = nodeOf(part) ?? {};
    return only === undefined ? list : [only];
  };
  const keyword =
    nodeOf(pair.revision)?.const === undefined && nodeOf(pair.base)?.const === undefined ? "enum" : "const";
  return rate(pair, keyword, effectsOf("enum", listOf(pair.base), listOf(pair.revision)), use);
}

/** A part of a schema, and the same part of the others that the values have to match. */
function partOf(schema: Part, ...names: readonly string[]) {
  const all = new Map([schema, ...(schema.beside ?? [])].map((one) => [one.pointer, one]));
  for (const one of all.values()) {
    for (const branch of branchesOf(one, "allOf")) all.set(branch.pointer, branch);
  }
  all.delete(schema.pointer);
  const beside = Array.from(all.values(), (one) => at(one, ...names));
  return { ...at(schema, ...names), beside: beside.filter(({ value }) => value !== undefined) };
}

function compareProperties({ base, revision }: Pair, use: Use, within: readonly Pair[]): Finding[] {
  const names = [base, revision].flatMap((schema) => namesIn(at(schema, "properties")));
  const finding = ({ asked }: Part, what: string, level: Finding["level"]) => {
    return { pointer: asked, use: use.name, what, level };
  };
  const closed = nodeOf(base)?.additionalProperties === false;
  const others = ({ value, ...part }: Part, holder: Part) => {
    return { ...part, value: value ?? at(holder, "additionalProperties").value };
  };
  // A field may have moved between schemas that the same values have to match.
  const declaration = (part: Part) => (part.value === undefined ? (part.beside?.[0] ?? part) : part);
  return [...new Set(names)].flatMap((name) => {
    const [old, now] = [partOf(base, "properties", name), partOf(revision, "properties", name)];
    // Where another schema declares the field, this one only limits it.
    if (use.isConstraint || [old, now].every(({ beside }) => beside.length > 0)) {
      return compareSchemas({ base: others(old, base), revision: others(now, revision) }, use, within);
    }
    const [was, is] = [declaration(old), declaration(now)];
    // Readers of a closed object may refuse unknown fields.
    if (was.value === undefined) {
      return finding(is, "field added", closed ? levelOf("loosened", use.direction) : "minor");
    }
    if (is.value === undefined) return finding(was, "field removed", "major");
    return compareSchemas({ base: was, revision: is }, use, within);
  });
}

function compareInner(pair: Pair, keyword: string, use: Use, within: readonly Pair[]): Finding[] {
  const isConstraint = use.isConstraint || !["items", "additionalProperties"].includes(keyword);
  const [base, revision] = [partOf(pair.base, keyword), partOf(pair.revision, keyword)];
  if (base.value === undefined && revision.value === undefined) return [];
  // Even `contains: true` limits a list: it must have a member.
  if (keyword === "contains" && (base.value === undefined || revision.value === undefined)) {
    return rate(pair, keyword, effectsOf(keyword, base.value, revision.value), use);
  }
  if (keyword !== "not") return compareSchemas({ base, revision }, { ...use, isConstraint }, within);
  // Without `not`, nothing is forbidden; and the more it allows, the less the whole does.
  const forbidden = ({ value = false, ...part }: Part): Part => ({ ...part, value });
  const direction = use.direction === "request" ? "response" : "request";
  return compareSchemas(
    { base: forbidden(base), revision: forbidden(revision) },
    { ...use, direction, isConstraint },
    within,
  );
}

function compareBranches(pair: Pair, keyword: string, use: Use, within: readonly Pair[]): Finding[] {
  const added = keyword === "allOf" ? "tightened" : "loosened";
  const removed = added === "loosened" ? "tightened" : "loosened";
  const [before, after] = [branchesOf(pair.base, keyword), branchesOf(pair.revision, keyword)];
  // A choice that is added or removed as a whole is a constraint, not a branch.
  if (before.length === 0 || after.length === 0) {
    const [old, now] = [nodeOf(pair.base)?.[keyword], nodeOf(pair.revision)?.[keyword]];
    return rate(pair, keyword, effectsOf(keyword, old, now), use);
  }
  const compare = (base: Part, revision: Part) => compareSchemas({ base, revision }, use, within);
  const tag = tagOf(pair, before, after);
  const nameOf = (branch: Part) => (tag ? `${tag} ${constantOf(branch, tag)}` : referenceOf(branch));
  const hasSameName: IsPair = (base, revision) =>
    nameOf(base) !== undefined && nameOf(base) === nameOf(revision);
  const isUnchanged: IsPair = (base, revision) => compare(base, revision).length === 0;
  const { pairs, left } = pairUp(
    before,
    after,
    tag === undefined ? [hasSameName, isUnchanged, () => true] : [hasSameName],
  );
  const alone = (branch: Part, what: string, effect: Effect): Finding => ({
    pointer: pair.revision.pointer + step(keyword),
    use: use.name,
    what: `${keyword}: ${nameOf(branch) ?? nameAt(branch.asked)} ${what}`,
    level: levelOf(effect, use.direction),
  });
  return [
    ...pairs.flatMap(([base, revision]) => compare(base, revision)),
    ...left.before.map((branch) => alone(branch, "removed", removed)),
    ...left.after.map((branch) => alone(branch, "added", added)),
  ];
}

function branchesOf(schema: Part, keyword: string): Part[] {
  const list = at(schema, keyword);
  const beside = [schema, ...(schema.beside ?? [])];
  return Array.isArray(list.value) ? list.value.map((_, index) => ({ ...at(list, index), beside })) : [];
}

/** The field whose constant identifies each branch: that of the discriminator, or else one that differs in all branches. */
function tagOf(pair: Pair, before: readonly Part[], after: readonly Part[]): string | undefined {
  const declared = [pair.revision, pair.base].map(
    (part) => at(part, "discriminator", "propertyName").value as string | undefined,
  );
  const fields = before.slice(0, 1).flatMap((branch) => namesIn(at(branch, "properties")));
  const differsIn = (branches: readonly Part[], name: string) => {
    const constants = branches.map((branch) => constantOf(branch, name));
    return !constants.includes(undefined) && new Set(constants).size === constants.length;
  };
  return [...declared, ...fields].find(
    (name) => name !== undefined && differsIn(before, name) && differsIn(after, name),
  );
}

/** The only value that a field of a branch can have, as JSON. */
function constantOf(branch: Part, name: string): string | undefined {
  const { const: only, enum: list = [only] } = nodeOf(at(branch, "properties", name)) ?? {};
  return Array.isArray(list) && list.length === 1 ? JSON.stringify(list[0]) : undefined;
}

/** The name of the schema that a branch refers to. */
function referenceOf({ asked, pointer }: Part): string | undefined {
  return asked === pointer ? undefined : nameAt(pointer);
}

type IsPair = (base: Part, revision: Part) => boolean;

/** Pairs each branch with the first one that an attempt finds for it. Whatever the pairs are, no change is overlooked. */
function pairUp(before: readonly Part[], after: readonly Part[], attempts: readonly IsPair[]) {
  const pairs = new Map<Part, Part>();
  const left = { before: [...before], after: [...after] };
  for (const isPair of attempts) {
    left.before = left.before.filter((base) => {
      const index = left.after.findIndex((revision) => isPair(base, revision));
      if (index < 0) return true;
      pairs.set(base, ...(left.after.splice(index, 1) as [Part]));
      return false;
    });
  }
  return { pairs: [...pairs], left };
}

/** The values of the tag are compared where two mappings list them: without one, the branches do. */
function compareDiscriminators(pair: Pair, use: Use): Finding[] {
  const [before, after] = [at(pair.base, "discriminator"), at(pair.revision, "discriminator")];
  if (at(before, "propertyName").value !== at(after, "propertyName").value) {
    return rate(pair, "discriminator", ["unclear"], use);
  }
  const [old, now] = [namesIn(at(before, "mapping")), namesIn(at(after, "mapping"))];
  const areListed = old.length > 0 && now.length > 0;
  return rate(pair, "discriminator", areListed ? allowedList(old, now) : [], use);
}
