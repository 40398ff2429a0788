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
  const pointers = ["/info/version", ...found.flatMap(({ pointer, old = pointer }) => [pointer, old])];
  const reported = new Set(pointers);
  const around = new Set(
    pointers.flatMap((pointer) =>
      Array.from(pointer.matchAll(/\//g), ({ index }) => pointer.slice(0, index)),
    ),
  );
  /** Pointers to the smallest parts that differ in the documents as written: references are not followed. */
  const differences = (before: unknown, after: unknown, pointer: string): string[] => {
    if (before === after || reported.has(pointer)) return [];
    if (!isNode(before) || !isNode(after))
      return around.has(pointer) || isDeepStrictEqual(before, after) ? [] : [pointer];
    const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
    return names.flatMap((name) => differences(before[name], after[name], pointer + step(name)));
  };
  const left = differences(base, revision, "");
  return left.map((pointer) => ({
    pointer,
    what: `${nameAt(pointer)} changed`,
    effect: "none",
    level: "patch",
  }));
}
