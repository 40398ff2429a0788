import { type Change, LEVELS } from "./change.ts";
import type { Verdict } from "./version.ts";

/** The changes, one on a line, the most severe first, and what they ask of the version. */
export function renderReport(changes: readonly Change[], verdict: Verdict): string {
  return [
    ...changes.map(renderChange),
    ...(changes.length > 0 ? [""] : []),
    renderVerdict(changes, verdict),
  ].join("\n");
}

function renderChange({ level, place, pointer, what, uses, ratings }: Change): string {
  const found = Object.entries(ratings).map(([by, rating]) => (rating === level ? by : `${by} (${rating})`));
  const [first, ...others] = uses;
  const more = others.length > 0 ? ` and ${others.length} more` : "";
  return [
    `${level.padEnd(6)} ${place}: ${what.join("; ")}`,
    ...(first === undefined ? [] : [`       in ${first}${more}`]),
    `       found by ${found.join(" and ")}; ${pointer}`,
  ].join("\n");
}

function renderVerdict(changes: readonly Change[], { released, version, need, required }: Verdict): string {
  if (need === "none") return `No change since ${released}. info.version says ${version}.`;
  const counts = LEVELS.toReversed().map(
    (level) => `${changes.filter((one) => one.level === level).length} ${level}`,
  );
  return `Since ${released}: ${counts.join(", ")}. That needs ${required}. info.version says ${version}.`;
}
