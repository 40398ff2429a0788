/**
 * Decides about two schemas that are built alike by their parts. Looking at cases would find the same, but where many schemas refer to
 * each other, it would take minutes.
 */
import { isDeepStrictEqual } from "node:util";
import { all, type Formula, fulfils, not, type Refutes, type Term } from "./formula.ts";
import { isNode, memberOf, type Node } from "./json-pointer.ts";
import { UNLIMITING } from "./keywords.ts";
import { HOLDERS, referred, textOf } from "./read-schema.ts";

type IsWithin = (sub: unknown, sup: unknown) => boolean;
type Proof = { readonly refutes: Refutes; readonly isWithin: IsWithin; readonly isStrictlyWithin: IsWithin };

/** Keywords whose parts decide when there is no other keyword. */
const ALONE: Readonly<Record<string, (old: never, now: never, proof: Proof) => boolean | undefined>> = {
  $ref: (old, now, { isWithin }) => isWithin(referred(old)?.schema, referred(now)?.schema),
  anyOf: (old: unknown[], now: unknown[], { isWithin }) =>
    old.every((one, at) => now.includes(one) || [now[at], ...now].some((other) => isWithin(one, other))),
  // What matches one branch alone matches no other afterwards, if these exclude each other, or allow no more than before.
  oneOf: (old: unknown[], now: unknown[], { refutes, isWithin, isStrictlyWithin }) => {
    const isKept = (one: unknown, at: number) => {
      const isApart = (other: unknown, index: number) =>
        index === at ||
        refutes(all([one, other].map((schema) => fulfils(schema)))) ||
        isStrictlyWithin(other, old[index] ?? false);
      return isWithin(one, now[at] ?? false) && now.every(isApart);
    };
    return old.every(isKept) || undefined;
  },
};
/** Keywords that apply to different parts of a value: to those under a key, and to all others. */
const BY_KEY = ["properties", "prefixItems"];
const TO_OTHERS = ["items", "additionalProperties"];

/** Whether no value fulfils one schema and not the other; undefined where their parts don't decide. */
export function refutesByParts(
  refutes: Refutes,
  { parts: [first, second, ...others] }: Term,
): boolean | undefined {
  const isSchema = (one?: Formula) => typeof one === "object" && one.is === "schema";
  const [sub, opposite] = (isSchema(first) ? [first, second] : [second, first]) as [Term, Term];
  const sup = opposite?.parts?.[0] as Term | undefined;
  if (others.length > 0 || !isSchema(sub) || opposite?.is !== "not" || !isNode(sup?.of)) return undefined;
  const isWithin = (one: unknown, other: unknown, isGoal = sup.is === "goal") =>
    one === other || refutes(all([fulfils(one), not(fulfils(other, isGoal))]));
  const [old, now] = [sub.of, sup.of] as [Node, Node];
  const keywords = Object.keys({ ...old, ...now }).filter((one) => !UNLIMITING.includes(one));
  if (!keywords.every((one) => one in old && one in now)) return undefined;
  const [one = "", ...more] = keywords;
  const alone = more.length === 0 && ALONE[one];
  if (alone)
    return alone(old[one] as never, now[one] as never, {
      refutes,
      isWithin,
      isStrictlyWithin: (one, other) => isWithin(one, other, false),
    });
  const keysOf = (keyword: string) => Object.keys(old[keyword] ?? {});
  const isAlike = (one: string) => {
    if (BY_KEY.includes(one)) return isDeepStrictEqual(keysOf(one), Object.keys(now[one] ?? {}));
    return TO_OTHERS.includes(one) || (!HOLDERS.includes(one) && textOf(old[one]) === textOf(now[one]));
  };
  if (!keywords.every(isAlike)) return undefined;
  const isKeptByKey = (one: string) =>
    keysOf(one).every((key) => isWithin(memberOf(old[one], key), memberOf(now[one], key)));
  return BY_KEY.every(isKeptByKey) && TO_OTHERS.every((one) => isWithin(old[one], now[one]));
}
