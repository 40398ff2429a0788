import { isDeepStrictEqual } from "node:util";
import { isNode } from "./node.ts";

/** What a schema allows after a change: more, less, more of an open list (`extended`), the same (`cosmetic`), or `unclear`. */
export type Effect = "loosened" | "tightened" | "extended" | "cosmetic" | "unclear";

/** The effects of changing a keyword's value, which is undefined where the keyword is absent. */
export type Compare = (before: unknown, after: unknown) => Effect[];

export const cosmetic: Compare = () => ["cosmetic"];
export const extended: Compare = () => ["extended"];

/** A removed limit allows everything. */
export const upperBound: Compare = (before, after) => bound(before, after, Number.POSITIVE_INFINITY, 1);
export const lowerBound: Compare = (before, after) => bound(before, after, Number.NEGATIVE_INFINITY, -1);
/** The least length of something: 0 limits nothing. */
export const leastCount: Compare = (before, after) => bound(before, after, 0, -1);

function bound(before: unknown, after: unknown, none: number, sign: number): Effect[] {
  const grown = (Number(after ?? none) - Number(before ?? none)) * sign;
  if (Number.isNaN(grown)) return ["unclear"];
  if (grown === 0) return ["cosmetic"];
  return [grown > 0 ? "loosened" : "tightened"];
}

export const flag: Compare = (_before, after) => [after ? "tightened" : "loosened"];

/** Which of two patterns allows more can't be decided. */
export const opaque: Compare = (before, after) => {
  if (before === undefined) return ["tightened"];
  return [after === undefined ? "loosened" : "unclear"];
};

/** A list of everything that is allowed; without a list, everything is. */
export const allowedList: Compare = (before, after) => {
  if (before === undefined || after === undefined) return opaque(before, after);
  return inSets(before, after, "loosened", "tightened");
};

/** A constant is a list of one value. */
export const constant: Compare = (before, after) =>
  allowedList(before === undefined ? before : [before], after === undefined ? after : [after]);

/** A list of everything that is required. */
export const requiredList: Compare = (before, after) =>
  inSets(before ?? [], after ?? [], "tightened", "loosened");

/** A list of the values that are known today. */
export const knownList: Compare = (before, after) =>
  inSets(before ?? [], after ?? [], "extended", "tightened");

/** Lists under names, such as the events of each category. */
export const knownListsByName: Compare = (before, after) => {
  const [old, now] = [before, after].map((node) => (isNode(node) ? node : {}));
  const names = new Set([...Object.keys(old ?? {}), ...Object.keys(now ?? {})]);
  return [...names].flatMap((name) => knownList(old?.[name], now?.[name]));
};

/** Types as lists; every integer is a number. */
export const types: Compare = (before, after) => {
  const list = (type: unknown) =>
    type && [type].flat().flatMap((one) => (one === "number" ? [one, "integer"] : [one]));
  return allowedList(list(before), list(after));
};

/** The transitions of a status, without their descriptions. */
export const transitions: Compare = (before, after) => {
  const list = (table: unknown) =>
    (Array.isArray(table) ? table : []).map(({ from, to, trigger }) => ({ from, to, trigger }));
  const effects = inSets(list(before), list(after), "loosened", "tightened");
  return effects.length > 0 ? effects : ["cosmetic"];
};

function inSets(before: unknown, after: unknown, added: Effect, removed: Effect): Effect[] {
  const [old, now] = [[before].flat(), [after].flat()];
  return [
    ...(missingFrom(old, now).length > 0 ? [added] : []),
    ...(missingFrom(now, old).length > 0 ? [removed] : []),
  ];
}

/** The items of a second list that the first one lacks. */
function missingFrom(list: readonly unknown[], others: readonly unknown[]): unknown[] {
  return others.filter((other) => !list.some((one) => isDeepStrictEqual(one, other)));
}

/** Says how a value changed: `changed from 64 to 65`, `gained "OTHER"`. */
export function describeChange(before: unknown, after: unknown): string {
  if (before === undefined) return `added: ${shorten(after)}`;
  if (after === undefined) return `removed: ${shorten(before)}`;
  if (!Array.isArray(before) || !Array.isArray(after))
    return `changed from ${shorten(before)} to ${shorten(after)}`;
  const [added, removed] = [missingFrom(before, after), missingFrom(after, before)];
  const parts = [
    ...(added.length > 0 ? [`gained ${added.map((one) => shorten(one)).join(", ")}`] : []),
    ...(removed.length > 0 ? [`lost ${removed.map((one) => shorten(one)).join(", ")}`] : []),
  ];
  return parts.join(" and ") || "is in another order";
}

/** A value as JSON, cut after some characters. */
export function shorten(value: unknown, length = 80): string {
  const text = JSON.stringify(value) ?? "nothing";
  return text.length > length ? `${text.slice(0, length - 1)}…` : text;
}
