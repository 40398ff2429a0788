/** What effects changes have, and the laws of a project's own keywords: these are in one table, so that the rest fits any document. */
import { isEqual, isNode, membersOf, type Node } from "./json-pointer.ts";

/** In this order: more values are allowed, fewer, others, more of a list that is open anyway, the same, or it isn't known. */
export type Effect = "loosened" | "tightened" | "changed" | "extended" | "none" | "unknown";

type Extension = {
  /** The effects of another value; undefined where it is absent. */
  readonly rate?: Rate;
  /** For an extension that limits values: the schema that says the same. */
  readonly toSchema?: (value: never) => Node;
};
export type Rate = (before: unknown, after: unknown) => readonly Effect[];

export const sets =
  (added: Effect, removed: Effect): Rate =>
  (before, after) => {
    const [old, now] = [[before ?? []].flat(), [after ?? []].flat()];
    const lacks = (list: readonly unknown[], others: readonly unknown[]) =>
      others.some((other) => !list.some((one) => isEqual(one, other)));
    return [...(lacks(old, now) ? [added] : []), ...(lacks(now, old) ? [removed] : [])];
  };
/** The effects of setting what is unset or false, and of the opposite. */
export const flag =
  (whenSet: Effect, whenUnset: Effect): Rate =>
  (before, after) =>
    (before === true) === (after === true) ? [] : [after === true ? whenSet : whenUnset];
const known = sets("extended", "tightened");
const withoutText = (table: unknown) =>
  [table ?? []]
    .flat()
    .filter(isNode)
    .map(({ description: _, ...row }) => row);

const inCategories = (lists: unknown) =>
  membersOf(lists).flatMap(([name, list]) => [list].flat().map((one) => `${name} ${one}`));

/** Extensions that promise something, each with the law for its values; all others inform readers. */
export const EXTENSIONS: Readonly<Record<string, Extension>> = {
  /** Values that are known today; readers must expect others. */
  "x-extensible-enum": { rate: known },
  /** How many digits a number may have after its decimal point. */
  "x-fraction-digits": { toSchema: (count: number) => ({ multipleOf: 10 ** -count }) },
  /** The transitions of a status: `{from, to, trigger}`. */
  "x-transitions": {
    rate: (before, after) => sets("loosened", "tightened")(withoutText(before), withoutText(after)),
  },
  /** Known names in each category. */
  "x-event-categories": { rate: (before, after) => known(inCategories(before), inCategories(after)) },
  /** How long something takes, such as `{ businessDays: 3 }`: people count on it. */
  "x-waiting-period": { rate: () => ["changed"] },
  /** Whether and when a call may be repeated: programs are written for it. */
  "x-retry": { rate: (before) => [before === undefined ? "extended" : "changed"] },
};
