import { isDeepStrictEqual } from "node:util";
import { isNode, nameAt, share, step, toOpenApi31 } from "./document.ts";
import { type Change, type Finding, toChanges } from "./law.ts";
import { compareOperations } from "./operations.ts";

/**
 * Every change between two OpenAPI documents, the most severe first: those that affect callers and receivers, and all other
 * differences, which affect no program.
 */
export function findChanges(base: unknown, revision: unknown): Change[] {
  const before = toOpenApi31(base);
  const after = share(before, toOpenApi31(revision));
  const found = compareOperations(before, after);
  return toChanges([...found, ...findLeftovers(before, after, found)]);
}

/** Wording, examples, and parts that nothing refers to: a different document needs a different version. */
function findLeftovers(base: unknown, revision: unknown, found: readonly Finding[]): Finding[] {
  // The version is what the changes are compared with.
  const reported = new Set([
    "/info/version",
    ...found.flatMap(({ pointer, old = pointer }) => [pointer, old]),
  ]);
  const around = new Set([...reported].flatMap((pointer) => outersOf(pointer)));
  return differences(base, revision, "")
    .filter(
      (pointer) => !around.has(pointer) && ![pointer, ...outersOf(pointer)].some((one) => reported.has(one)),
    )
    .map((pointer) => ({ pointer, what: `${nameAt(pointer)} changed`, effect: "none", level: "patch" }));
}

const outersOf = (pointer: string) =>
  Array.from(pointer.matchAll(/\//g), ({ index }) => pointer.slice(0, index)).slice(1);

/** Pointers to the smallest parts that differ in the documents as written: references are not followed. */
function differences(base: unknown, revision: unknown, pointer: string): string[] {
  if (base === revision) return [];
  if (!isNode(base) || !isNode(revision)) return isDeepStrictEqual(base, revision) ? [] : [pointer];
  const names = new Set([...Object.keys(base), ...Object.keys(revision)]);
  return [...names].flatMap((name) => differences(base[name], revision[name], pointer + step(name)));
}
