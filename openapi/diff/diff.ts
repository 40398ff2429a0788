/** Schemas are compared after the operations, so that a schema that many of them use is compared, and reported, once. */
import { isDeepStrictEqual } from "node:util";
import { compareOperations } from "./compare-operations.ts";
import { compareSchemas, type SchemaUse } from "./compare-schemas.ts";
import { toDocuments } from "./documents.ts";
import { isNode, nameAt, step } from "./json-pointer.ts";
import { type Change, type Finding, toChanges } from "./law.ts";

/**
 * Every change between two OpenAPI documents, the most severe first: those that affect callers and receivers, and all other
 * differences, which affect no program.
 */
export function findChanges(base: unknown, revision: unknown): Change[] {
  const [before, after] = toDocuments(base, revision);
  const [schemas, others] = [[], []] as [SchemaUse[], Finding[]];
  for (const one of compareOperations(before, after)) "use" in one ? schemas.push(one) : others.push(one);
  const found = [...others, ...compareSchemas(schemas)];
  return toChanges([...found, ...findLeftovers(before.root, after.root, found)]);
}

/** Wording, examples, and parts that nothing refers to: a different document needs a different version. */
function findLeftovers(base: unknown, revision: unknown, found: readonly Finding[]): Finding[] {
  // The version is what the changes are compared with.
  const reported = new Set([
    "/info/version",
    ...found.flatMap(({ pointer, old = pointer }) => [pointer, old]),
  ]);
  const isAround = (pointer: string) => [...reported].some((one) => one.startsWith(`${pointer}/`));
  /** Pointers to the smallest parts that differ in the documents as written: references are not followed. */
  const differences = (before: unknown, after: unknown, pointer: string): string[] => {
    if (reported.has(pointer) || isDeepStrictEqual(before, after)) return [];
    if (!isNode(before) || !isNode(after)) return isAround(pointer) ? [] : [pointer];
    const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
    return names.flatMap((name) => differences(before[name], after[name], pointer + step(name)));
  };
  return differences(base, revision, "").map((pointer) => {
    return { pointer, uses: [], what: `${nameAt(pointer)} changed`, effect: "none", level: "patch" };
  });
}
