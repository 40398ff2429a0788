/** The laws of a project's own keywords. They are in one table, so that the rest works for any document. */
import { isDeepStrictEqual } from "node:util";
import { membersOf, type Node } from "./json-pointer.ts";

/**
 * The effect on the values that are allowed: more, fewer, others, more of a list that is open anyway, or none. Something that is
 * not compared is `unknown`.
 */
export type Effect = "loosened" | "tightened" | "changed" | "extended" | "none" | "unknown";

type Extension = {
  /** The effects of another value; undefined where it is absent. */
  readonly rate: (before: unknown, after: unknown) => Effect[];
  /** For an extension that limits values of a type: which it allows, and whether one limit allows no more than another. */
  readonly limits?: {
    readonly type: string;
    readonly allows: (limit: unknown, value: unknown) => boolean;
    readonly implies: (limit: unknown, other: unknown) => boolean;
  };
};

export const sets =
  (added: Effect, removed: Effect): Extension["rate"] =>
  (before, after) => {
    const [old, now] = [[before ?? []].flat(), [after ?? []].flat()];
    const lacks = (list: readonly unknown[], others: readonly unknown[]) =>
      others.some((other) => !list.some((one) => isDeepStrictEqual(one, other)));
    return [...(lacks(old, now) ? [added] : []), ...(lacks(now, old) ? [removed] : [])];
  };
const known = sets("extended", "tightened");
const digits = (value: unknown) => Number(value ?? Number.POSITIVE_INFINITY);
const withoutText = (table: unknown) =>
  ([table ?? []].flat() as Node[]).map(({ description: _, ...row }) => row);

/**
 * Extensions that promise something, each with the law for its values; all others inform readers. The rest of the diff knows none of
 * them: a project adds its own here.
 */
export const EXTENSIONS: Readonly<Record<string, Extension>> = {
  /** Values that are known today; readers must expect others. */
  "x-extensible-enum": { rate: known },
  /** How many digits a number may have after its decimal point. */
  "x-fraction-digits": {
    rate: (before, after) => [digits(before) < digits(after) ? "loosened" : "tightened"],
    limits: {
      type: "fraction",
      allows: (limit, value) => (String(value).split(".")[1] ?? "").length <= digits(limit),
      implies: (limit, other) => digits(limit) <= digits(other),
    },
  },
  /** The transitions of a status: `{from, to, trigger}`. */
  "x-transitions": {
    rate: (before, after) => sets("loosened", "tightened")(withoutText(before), withoutText(after)),
  },
  /** Known names in each category. */
  "x-event-categories": {
    rate: (before, after) => {
      const [old, now] = [before, after].map((lists) => Object.fromEntries(membersOf(lists)));
      return Object.keys({ ...old, ...now }).flatMap((name) => known(old?.[name], now?.[name]));
    },
  },
  /** How long something takes, such as `{ businessDays: 3 }`: people count on it. */
  "x-waiting-period": { rate: () => ["changed"] },
  /** Whether and when a call may be repeated: programs are written for it. */
  "x-retry": { rate: (before) => [before === undefined ? "extended" : "changed"] },
};
