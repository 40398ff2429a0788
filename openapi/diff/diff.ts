import type { Node } from "../document/node.ts";
import { type Change, LEVELS, toChanges } from "./change.ts";
import { compareContracts } from "./contracts.ts";
import { findLeftovers } from "./uncompared.ts";

/** The changes that affect callers and receivers, and all other differences. */
export function findChanges(base: Node, revision: Node): Change[] {
  const found = compareContracts(base, revision);
  return toChanges([...found, ...findLeftovers(base, revision, found)]);
}

/** The changes, in three lines each, the most severe first, and an empty line; nothing without changes. */
export function renderChanges(changes: readonly Change[]): string[] {
  return [...changes.map(renderChange), ...(changes.length > 0 ? [""] : [])];
}

/** How many changes there are of each level, such as `0 major, 2 minor, 1 patch`. */
export function countLevels(changes: readonly Change[]): string {
  return LEVELS.toReversed()
    .map((level) => `${changes.filter((one) => one.level === level).length} ${level}`)
    .join(", ");
}

function renderChange({ level, location, pointer, what, uses }: Change): string {
  const [first, ...others] = uses;
  const more = others.length > 0 ? ` and ${others.length} more` : "";
  return [
    `${level.padEnd(6)} ${location}: ${what.join("; ")}`,
    ...(first === undefined ? [] : [`       in ${first}${more}`]),
    `       at ${pointer}`,
  ].join("\n");
}
