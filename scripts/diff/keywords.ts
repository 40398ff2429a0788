import { isDeepStrictEqual } from "node:util";
import { isNode } from "../../openapi/document/node.ts";
import type { Level } from "./change.ts";

/**
 * The effect of a change on the values that a schema allows: more, fewer, more of an open list (`extended`), none
 * (`cosmetic`), or undecidable (`unclear`).
 */
export type Effect = "loosened" | "tightened" | "extended" | "cosmetic" | "unclear";

/** The side that a change affects: `request` is what callers write, `response` what they read. */
export type Direction = "request" | "response";

/** The level of an effect: fewer values break those who write them, more values those who read them. */
export function levelOf(effect: Effect, direction: Direction): Level {
  if (effect === "cosmetic") return "patch";
  if (effect === "unclear") return "major";
  if (effect === "extended") return "minor";
  return (effect === "loosened") === (direction === "request") ? "minor" : "major";
}

type Rate = (before: unknown, after: unknown) => Effect[];

/** A removed limit allows everything. */
const upperBound: Rate = (before, after) => bound(before, after, Number.POSITIVE_INFINITY, 1);
const lowerBound: Rate = (before, after) => bound(before, after, Number.NEGATIVE_INFINITY, -1);

function bound(before: unknown, after: unknown, none: number, sign: number): Effect[] {
  const grown = (Number(after ?? none) - Number(before ?? none)) * sign;
  if (Number.isNaN(grown)) return ["unclear"];
  return [grown > 0 ? "loosened" : "tightened"];
}

/** Which of two patterns allows more can't be decided. */
const opaque: Rate = (before, after) => {
  if (before === undefined) return ["tightened"];
  return [after === undefined ? "loosened" : "unclear"];
};

/** A list of everything that is allowed; without a list, everything is. */
const allowed: Rate = (before, after) => {
  if (before === undefined || after === undefined) return opaque(before, after);
  return inSets(before, after, "loosened", "tightened");
};

/** A list of everything that is required. */
const demanded: Rate = (before, after) => inSets(before ?? [], after ?? [], "tightened", "loosened");

/** A list of the values that are known today. */
const announced: Rate = (before, after) => inSets(before ?? [], after ?? [], "extended", "tightened");

function inSets(before: unknown, after: unknown, added: Effect, removed: Effect): Effect[] {
  const [old, now] = [[before].flat(), [after].flat()];
  const has = (list: readonly unknown[], value: unknown) =>
    list.some((other) => isDeepStrictEqual(other, value));
  return [
    ...(now.some((value) => !has(old, value)) ? [added] : []),
    ...(old.some((value) => !has(now, value)) ? [removed] : []),
  ];
}

/** Types as lists; every integer is a number. */
const types: Rate = (before, after) => {
  const list = (type: unknown) =>
    type && [type].flat().flatMap((one) => (one === "number" ? [one, "integer"] : [one]));
  return allowed(list(before), list(after));
};

/** The transitions of a status, without their descriptions. */
const moves: Rate = (before, after) => {
  const list = (table: unknown) =>
    (Array.isArray(table) ? table : []).map(({ from, to, trigger }) => ({ from, to, trigger }));
  const effects = inSets(list(before), list(after), "loosened", "tightened");
  return effects.length > 0 ? effects : ["cosmetic"];
};

/** Lists under names, such as the events of each category. */
const announcedByName: Rate = (before, after) => {
  const [old, now] = [before, after].map((node) => (isNode(node) ? node : {}));
  const names = new Set([...Object.keys(old ?? {}), ...Object.keys(now ?? {})]);
  return [...names].flatMap((name) => announced(old?.[name], now?.[name]));
};

const cosmetic: Rate = () => ["cosmetic"];
const unclear: Rate = () => ["unclear"];

const RATES: Readonly<Record<string, Rate>> = {
  type: types,
  enum: allowed,
  required: demanded,
  "x-extensible-enum": announced,
  "x-event-categories": announcedByName,
  "x-transitions": moves,
  "x-fraction-digits": upperBound,
  deprecated: () => ["extended"],
  uniqueItems: (_before, after) => [after ? "tightened" : "loosened"],
};
for (const name of ["maxLength", "maximum", "exclusiveMaximum", "maxItems", "maxProperties"]) {
  Object.assign(RATES, { [name]: upperBound });
}
for (const name of ["minLength", "minimum", "exclusiveMinimum", "minItems", "minProperties"]) {
  Object.assign(RATES, { [name]: lowerBound });
}
for (const name of [
  "pattern",
  "format",
  "multipleOf",
  "dependentRequired",
  "dependentSchemas",
  "prefixItems",
]) {
  Object.assign(RATES, { [name]: opaque });
}
for (const name of ["title", "description", "examples", "example", "externalDocs", "$comment"]) {
  Object.assign(RATES, { [name]: cosmetic });
}
for (const name of ["x-source", "x-enum-source", "x-open", "x-unbounded", "x-pattern-message"]) {
  Object.assign(RATES, { [name]: cosmetic });
}

/** The effect of changing one keyword. For an unknown keyword, the worst is assumed. */
export function effectsOf(keyword: string, before: unknown, after: unknown): Effect[] {
  return isDeepStrictEqual(before, after) ? [] : (RATES[keyword] ?? unclear)(before, after);
}
