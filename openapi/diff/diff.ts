/** Schemas are compared after the operations, so that a schema that many of them use is compared, and reported, once. */
import { compareOperations } from "./compare-operations.ts";
import { compareSchemas, type SchemaUse } from "./compare-schemas.ts";
import { toDocuments } from "./documents.ts";
import { isEqual, isNode, memberOf, nameAt, step } from "./json-pointer.ts";
import { type Change, type Finding, toChanges } from "./severity.ts";

/** Every change between two OpenAPI documents, the most severe first, down to differences that affect no program. */
export function findChanges(base: unknown, revision: unknown, names?: string[]): Change[] {
  const [schemas, others] = [[], []] as [SchemaUse[], Finding[]];
  for (const one of compareOperations(toDocuments(base, revision, names)))
    "use" in one ? schemas.push(one) : others.push(one);
  const found = [...others, ...compareSchemas(schemas)];
  return toChanges([...found, ...findLeftovers(base, revision, found)]);
}

/** Wording, examples, and parts that nothing refers to: each is a patch, because two documents never share a version. */
function findLeftovers(base: unknown, revision: unknown, found: readonly Finding[]): Finding[] {
  // The version is what the changes are compared with.
  const reported = ["/info/version", ...found.flatMap(({ pointer, old = pointer }) => [pointer, old])];
  const known = new Set(reported);
  /** The smallest parts that differ in the documents as written: references are not followed. */
  const differences = (before: unknown, after: unknown, pointer: string): Finding[] => {
    if (known.has(pointer) || isEqual(before, after)) return [];
    const names = isNode(before) && isNode(after) ? Object.keys({ ...before, ...after }) : [];
    if (names.length === 0) {
      if (reported.some((one) => one.startsWith(`${pointer}/`))) return [];
      const how = before === undefined ? "added" : after === undefined ? "removed" : "changed";
      return [{ pointer, uses: [], what: `${nameAt(pointer)} ${how}`, effect: "none", level: "patch" }];
    }
    return names.flatMap((name) =>
      differences(memberOf(before, name), memberOf(after, name), pointer + step(name)),
    );
  };
  return differences(base, revision, "");
}
