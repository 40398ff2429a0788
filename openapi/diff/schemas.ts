import { isDeepStrictEqual } from "node:util";
import { type Compare, describeChange, type Effect, opaque, unclear } from "../document/comparisons.ts";
import { KEYWORDS, keywordsHolding } from "../document/keywords.ts";
import { isNode } from "../document/node.ts";
import { type Direction, type Finding, levelOf } from "./change.ts";
import { at, namesIn, type Spot } from "./spot.ts";

/** The same part of two documents. */
export type Pair = { readonly base: Spot; readonly revision: Spot };

/** Where a schema is used, and who writes and reads its values. */
export type Use = { readonly name: string; readonly direction: Direction };

/** Keywords whose value is a schema that the instance, or a part of it, must match. Another condition has unclear effects. */
const SCHEMAS = [...keywordsHolding("schema", "condition"), "additionalProperties"].filter(
  (keyword) => keyword !== "if",
);
const BRANCHES = keywordsHolding("branches");
/** Keywords whose value is not compared as a whole. */
const SPLIT = [...SCHEMAS, ...BRANCHES, "properties", "const", "enum", "discriminator", "$ref"];

/** Every difference between two schemas, rated by whom it affects. References are followed. */
export function compareSchemas(pair: Pair, use: Use, within: readonly string[] = []): Finding[] {
  const { base, revision } = pair;
  const key = `${base.pointer} ${revision.pointer}`;
  if (within.includes(key)) return []; // a recursive schema
  const inner = [...within, key];
  const [old, now] = [nodeOf(base), nodeOf(revision)];
  if (!old || !now) return isDeepStrictEqual(base.value, revision.value) ? [] : [compareBooleans(pair, use)];

  const keywords = [...new Set([...Object.keys(old), ...Object.keys(now)])];
  return [
    ...keywords
      .filter((keyword) => !SPLIT.includes(keyword))
      .flatMap((keyword) =>
        rate(pair, keyword, effectsOf(KEYWORDS[keyword]?.compare, old[keyword], now[keyword]), use),
      ),
    ...compareValues(pair, use),
    ...compareProperties(pair, use, inner),
    ...SCHEMAS.flatMap((keyword) => compareInner(pair, keyword, use, inner)),
    ...BRANCHES.flatMap((keyword) => compareBranches(pair, keyword, use, inner)),
    ...compareDiscriminators(pair, use),
  ];
}

function nodeOf({ value }: Spot) {
  return isNode(value) ? value : undefined;
}

/** One finding for each effect of one change, at the keyword. */
function rate(pair: Pair, keyword: string, effects: readonly Effect[], use: Use): Finding[] {
  const [before, after] = [at(pair.base, keyword), at(pair.revision, keyword)];
  return effects.map((effect) => ({
    pointer: `${pair.revision.pointer}/${keyword}`,
    use: use.name,
    what:
      effect === "cosmetic"
        ? `${keyword} changed`
        : `${keyword} ${describeChange(before.value, after.value)}`,
    level: levelOf(effect, use.direction),
  }));
}

/** The effects of changing one keyword. For an unknown keyword, the worst is assumed. */
function effectsOf(compare: Compare = unclear, before: unknown, after: unknown): Effect[] {
  return isDeepStrictEqual(before, after) ? [] : compare(before, after);
}

function compareBooleans({ base, revision }: Pair, { name, direction }: Use): Finding {
  const loosened = revision.value === true || base.value === false;
  const effect = loosened
    ? "loosened"
    : revision.value === false || base.value === true
      ? "tightened"
      : "unclear";
  const keyword = revision.pointer.split("/").at(-1);
  const what = `${keyword} ${describeChange(base.value, revision.value)}`;
  return { pointer: revision.pointer, use: name, what, level: levelOf(effect, direction) };
}

/** A constant and a list with one value are the same. */
function compareValues(pair: Pair, use: Use): Finding[] {
  const listOf = (spot: Spot) => {
    const { const: only, enum: list } = nodeOf(spot) ?? {};
    return only === undefined ? list : [only];
  };
  const keyword =
    nodeOf(pair.revision)?.const === undefined && nodeOf(pair.base)?.const === undefined ? "enum" : "const";
  return rate(
    pair,
    keyword,
    effectsOf(KEYWORDS.enum?.compare, listOf(pair.base), listOf(pair.revision)),
    use,
  );
}

function compareProperties({ base, revision }: Pair, use: Use, within: readonly string[]): Finding[] {
  const [before, after] = [at(base, "properties"), at(revision, "properties")];
  const finding = ({ asked }: Spot, what: string, level: Finding["level"]) => {
    return { pointer: asked, use: use.name, what, level };
  };
  const closed = nodeOf(base)?.additionalProperties === false;
  return [...new Set([...namesIn(before), ...namesIn(after)])].flatMap((name) => {
    const [old, now] = [at(before, name), at(after, name)];
    // Readers of a closed object may refuse unknown fields.
    if (old.value === undefined) {
      return finding(now, "field added", closed ? levelOf("loosened", use.direction) : "minor");
    }
    if (now.value === undefined) return finding(old, "field removed", "major");
    return compareSchemas({ base: old, revision: now }, use, within);
  });
}

function compareInner(pair: Pair, keyword: string, use: Use, within: readonly string[]): Finding[] {
  const fallback = keyword !== "not";
  const [base, revision] = [pair.base, pair.revision].map((spot) => {
    const inner = at(spot, keyword);
    return inner.value === undefined ? { ...inner, value: fallback } : inner;
  }) as [Spot, Spot];
  const flipped: Direction = use.direction === "request" ? "response" : "request";
  const direction = keyword === "not" ? flipped : use.direction;
  return compareSchemas({ base, revision }, { ...use, direction }, within);
}

function compareBranches(pair: Pair, keyword: string, use: Use, within: readonly string[]): Finding[] {
  const added = keyword === "allOf" ? "tightened" : "loosened";
  const [before, after] = [branchesOf(at(pair.base, keyword)), branchesOf(at(pair.revision, keyword))];
  const removed = added === "loosened" ? "tightened" : "loosened";
  // A choice that is added or removed as a whole is a constraint, not a branch.
  if (before.size === 0 || after.size === 0) {
    const [old, now] = [nodeOf(pair.base)?.[keyword], nodeOf(pair.revision)?.[keyword]];
    return rate(pair, keyword, effectsOf(opaque, old, now), use);
  }
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((tag) => {
    const [base, revision] = [before.get(tag), after.get(tag)];
    if (base && revision) return compareSchemas({ base, revision }, use, within);
    const pointer = `${pair.revision.pointer}/${keyword}`;
    const what = `${keyword}: ${tag} ${base ? "removed" : "added"}`;
    return { pointer, use: use.name, what, level: levelOf(base ? removed : added, use.direction) };
  });
}

/** The branches of a choice, identified by a constant in one of their fields, their name, or their position. */
function branchesOf(choice: Spot): Map<string, Spot> {
  const list = Array.isArray(choice.value) ? choice.value : [];
  return new Map(
    list.map((_, index) => {
      const branch = at(choice, index);
      const properties = at(branch, "properties");
      const constant = (name: string) => nodeOf(at(properties, name))?.const;
      const tag = namesIn(properties).find((name) => constant(name) !== undefined);
      const name = branch.pointer.startsWith("/components/") ? branch.pointer.split("/").at(-1) : `${index}`;
      return [tag === undefined ? `${name}` : `${tag} ${constant(tag)}`, branch];
    }),
  );
}

function compareDiscriminators(pair: Pair, use: Use): Finding[] {
  const [before, after] = [pair.base, pair.revision].map(
    (spot) => at(spot, "discriminator", "propertyName").value,
  );
  return rate(pair, "discriminator", before === after ? [] : ["unclear"], use);
}
