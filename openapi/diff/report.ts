/** Prints changes. Each says why it has its level, because a reader who can't check that will not believe it. */
import { LISTED, shorten } from "./compare-schemas.ts";
import { type Change, LEVELS } from "./law.ts";

/** How many changes there are of each level, such as `0 major, 2 minor, 1 patch`. */
export const countLevels = (changes: readonly Change[]): string =>
  LEVELS.toReversed()
    .map((level) => `${changes.filter((one) => one.level === level).length} ${level}`)
    .join(", ");

export const titleOf = ({ location, what }: Change) => `${location}: ${what.join("; ")}`;

/** Why a change has its level: the effect and whom it concerns, where, and a value that shows it. */
export function reasonsOf(change: Change): string[] {
  const { effect, direction, concerned, isAssumed, uses, value, pointer } = change;
  const [use, ...others] = uses;
  const assumed = isAssumed ? ", which is assumed: nothing proves or disproves it" : "";
  const shown = direction === "request" ? "was accepted, and isn't now" : "was never sent, and can be now";
  const [, file, rest] = /^\/x-files\/([^/]*)(.*)/.exec(pointer) ?? [];
  return [
    direction && `${effect} for ${concerned} (${direction})${assumed}`,
    use &&
      `in ${use}${others.length > 0 ? ` and ${uses.length < LISTED ? others.length : "many"} more` : ""}`,
    value && `${shown}: ${shorten(value.is)}`,
    `at ${file === undefined ? pointer : `${file.replaceAll("~1", "/")}#${rest}`}`,
  ].filter((reason) => reason !== undefined);
}

/** The changes in a format, the most severe first. */
export const FORMATS = {
  text: (changes: readonly Change[]) =>
    changes
      .map((one) => [`${one.level.padEnd(6)} ${titleOf(one)}`, ...reasonsOf(one)].join("\n       "))
      .join("\n"),
  markdown: (changes: readonly Change[]) => {
    const cell = (text: string) => text.replaceAll("|", "\\|").replaceAll("<", "&lt;").replaceAll("\n", " ");
    const toCells = (one: Change) => [
      one.level,
      one.location,
      one.what.join("; "),
      reasonsOf(one).join("; "),
    ];
    const lines = changes.map((one) => `| ${toCells(one).map(cell).join(" | ")} |`);
    return ["| level | where | change | why |", "|---|---|---|---|", ...lines].join("\n");
  },
  json: (changes: readonly Change[]) => JSON.stringify(changes, null, 2),
};
