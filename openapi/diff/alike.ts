/**
 * Decides about two schemas that are built alike by their parts. Looking at cases would find the same, but where many schemas refer to
 * each other, it would take minutes.
 */
import { all, type Formula, fulfils, not, type Refutes, type Term } from "./formula.ts";
import { isEqual, isNode, membersOf, type Node } from "./json-pointer.ts";
import { UNLIMITING } from "./keywords.ts";
import { referred, textOf } from "./read-schema.ts";

/** Keywords that decide alone about a value, and those that decide about parts of it. */
const ALONE = ["$ref", "anyOf", "oneOf"];
const BY_PART = ["items", "additionalProperties", "properties", "prefixItems"];
const partsOf = (keyword: string, value: unknown): Node => {
  if (keyword === "$ref") return { to: referred(value)?.schema };
  return { ...(["items", "additionalProperties"].includes(keyword) ? { value } : (value as Node)) };
};

/** Whether the parts of two schemas prove that no value fulfils one and not the other. */
export function refutesByParts(refutes: Refutes, { parts: [first, second, ...others] }: Term): boolean {
  const isSchema = (one?: Formula) => typeof one === "object" && one.is === "schema";
  const [sub, opposite] = (isSchema(first) ? [first, second] : [second, first]) as [Term, Term];
  const sup = opposite?.parts?.[0] as Term | undefined;
  if (others.length > 0 || !isSchema(sub) || opposite?.is !== "not" || !isNode(sup?.of)) return false;
  const isWithin = (one: unknown, other: unknown, isGoal = sup.is === "goal") =>
    one === other || refutes(all([fulfils(one), not(fulfils(other, isGoal))]));
  const [old, now] = [sub.of, sup.of] as [Node, Node];
  const keywords = Object.keys({ ...old, ...now }).filter((one) => !UNLIMITING.includes(one));
  return keywords.every((keyword) => {
    const [before, after] = [old[keyword], now[keyword]];
    if (before === undefined || after === undefined) return false;
    if (keywords.length > 1 ? !BY_PART.includes(keyword) : ![...BY_PART, ...ALONE].includes(keyword))
      return textOf(before) === textOf(after);
    const [was, is] = [partsOf(keyword, before), partsOf(keyword, after)];
    const others = Object.values(is);
    if (keyword === "anyOf")
      return membersOf(was).every(([at, one]) =>
        [is[at] ?? false, ...others].some((other) => isWithin(one, other)),
      );
    // What matches one branch alone matches no other afterwards, if these exclude each other, or allow no more than before.
    const isApart = ([at, one]: [string, unknown]) =>
      membersOf(is).every(
        ([index, other]) =>
          index === at ||
          isWithin(other, was[index] ?? false, false) ||
          refutes(all([fulfils(one), fulfils(other)])),
      );
    if (keyword === "oneOf" && !membersOf(was).every(isApart)) return false;
    return (
      isEqual(Object.keys(was), Object.keys(is)) && membersOf(was).every(([at, one]) => isWithin(one, is[at]))
    );
  });
}
