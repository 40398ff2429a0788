import type { Effect } from "../document/comparisons.ts";
import { locationName } from "../document/location-name.ts";
import { stepsOf } from "../document/pointer.ts";

/** What a change requires of the version, the least first. */
export const LEVELS = ["patch", "minor", "major"] as const;
export type Level = (typeof LEVELS)[number];

/** The side that a change affects: `request` is what callers write, `response` what they read. */
export type Direction = "request" | "response";

/** The level of an effect: fewer values break those who write them, more values those who read them. */
export function levelOf(effect: Effect, direction: Direction): Level {
  if (effect === "cosmetic") return "patch";
  if (effect === "unclear") return "major";
  if (effect === "extended") return "minor";
  return (effect === "loosened") === (direction === "request") ? "minor" : "major";
}

/**
 * A difference: where the changed part is, which calls it affects, how it changed, and the version that this
 * requires.
 */
export type Finding = {
  /** JSON Pointer to the changed part itself, in the document that contains it, and not to a reference to it. */
  readonly pointer: string;
  /** `request of POST /v1/refunds`, `event refund.pending`; empty when the check does not say. */
  readonly use: string;
  readonly what: string;
  readonly level: Level;
};

/** One change of the contract, however many operations it affects. */
export type Change = {
  readonly location: string;
  readonly pointer: string;
  readonly what: readonly string[];
  readonly uses: readonly string[];
  readonly level: Level;
};

export function mostSevere(levels: readonly Level[]): Level | undefined {
  return LEVELS.findLast((level) => levels.includes(level));
}

/** Merges the findings at one location; the most severe changes come first. */
export function toChanges(findings: readonly Finding[]): Change[] {
  const changes = Array.from(
    Map.groupBy(findings, ({ pointer }) => pointer),
    toChange,
  );
  return changes.toSorted((a, b) => LEVELS.indexOf(b.level) - LEVELS.indexOf(a.level));
}

function toChange([pointer, group]: readonly [string, readonly Finding[]]): Change {
  const level = mostSevere(group.map((finding) => finding.level)) ?? "patch";
  const unique = (texts: readonly string[]) => [...new Set(texts.filter((text) => text !== ""))];
  const informative = group.filter((finding) => finding.level === level);
  return {
    location: locationName(stepsOf(pointer)),
    pointer,
    what: unique(informative.map(({ what }) => what)),
    uses: unique(informative.map(({ use }) => use)),
    level,
  };
}
