/** Proves by parts, for schemas with the same keywords: cases would prove the same, but take minutes where many schemas are linked. */
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

/** Whether no value fulfils one schema and not the other; undefined where their parts don't decide. */
export function refutesByParts(refutes: Refutes, { parts: [first, second, ...others] }: Term) {
  const isSchema = (one?: Formula) => typeof one === "object" && one.is === "schema";
  const [sub, opposite] = (isSchema(first) ? [first, second] : [second, first]) as [Term, Term];
  const sup = opposite?.parts?.[0] as Term | undefined;
  if (others.length > 0 || !isSchema(sub) || opposite?.is !== "not" || !isNode(sup?.of)) return undefined;
  const isWithin = (one: unknown, other: unknown, isExpected = sup.is === "expected") =>
    one === other || refutes(all([fulfils(one), not(fulfils(other, isExpected))]));
  const [old, now] = [sub.of, sup.of] as [Node, Node];
  const keywords = Object.keys({ ...old, ...now }).filter((one) => !UNLIMITING.includes(one));
  const isByPart = (one: string) => BY_PART.includes(one) || (keywords.length === 1 && ALONE.includes(one));
  const namesIn = (node: Node, one: string) => ALONE.includes(one) || Object.keys(partsOf(one, node[one]));
  const isAlike = (one: string) =>
    isByPart(one) ? isEqual(namesIn(old, one), namesIn(now, one)) : textOf(old[one]) === textOf(now[one]);
  if (!keywords.every((one) => one in old && one in now && isAlike(one))) return undefined;
  const isKept = (keyword: string) => {
    const [was, is] = [membersOf(partsOf(keyword, old[keyword])), partsOf(keyword, now[keyword])];
    const within = ([at, one]: [string, unknown]) => isWithin(one, is[at] ?? false);
    if (keyword === "anyOf")
      return was.every((one) => within(one) || Object.values(is).some((other) => isWithin(one[1], other)));
    // What matches one branch alone matches no other afterwards, if these exclude each other, or allow no more than before.
    const isApart = ([at, one]: [string, unknown], other: unknown, index: number) =>
      `${index}` === at ||
      isWithin(other, was[index]?.[1] ?? false, false) ||
      refutes(all([fulfils(one), fulfils(other)]));
    return was.every(
      (one) =>
        within(one) &&
        (keyword !== "oneOf" || Object.values(is).every((other, index) => isApart(one, other, index))),
    );
  };
  return keywords.filter(isByPart).every(isKept) || (keywords[0] === "oneOf" ? undefined : false);
}
