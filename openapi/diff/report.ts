/** Prints changes. Each says why it has its level, because a reader who can't check that will not believe it. */
import { LISTED, shorten } from "./compare-schemas.ts";
import { fileAndPointer } from "./documents.ts";
import { type Change, LEVELS } from "./severity.ts";

/** How many changes there are of each level, such as `0 major, 2 minor, 1 patch`. */
export const countLevels = (changes: readonly Change[]): string =>
  LEVELS.toReversed()
    .map((level) => `${changes.filter((one) => one.level === level).length} ${level}`)
    .join(", ");

export const titleOf = ({ location, what }: Change) => `${location}: ${what.join("; ")}`;

/** Why a change has its level: the effect and whom it concerns, where, and a value that shows it. */
export function reasonsOf(change: Change): string[] {
  const { effect, isAssumed, uses, value, pointer } = change;
  const [use, ...others] = uses;
  // Uses are noted up to LISTED for a schema, so that beyond it nobody knows how many there are.
  const more = uses.length < LISTED ? others.length : "many";
  const isRead = use?.direction === "response";
  const assumed = isAssumed ? ", which is assumed: nothing proves or disproves it" : "";
  const shown = isRead ? "was never sent, and can be now" : "was accepted, and isn't now";
  return [
    use && `${effect} for ${use.party} who ${isRead ? "read" : "write"} it (${use.direction})${assumed}`,
    use && `in ${use.name}${others.length > 0 ? ` and ${more} more` : ""}`,
    value && `${shown}: ${shorten(value.is)}`,
    `at ${fileAndPointer(pointer)}`,
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
    const lines = changes.map((one) => {
      const cells = [one.level, one.location, one.what.join("; "), reasonsOf(one).join("; ")];
      return `| ${cells.map(cell).join(" | ")} |`;
    });
    return ["| level | where | change | why |", "|---|---|---|---|", ...lines].join("\n");
  },
  json: (changes: readonly Change[]) => JSON.stringify(changes, null, 2),
};
