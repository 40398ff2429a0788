import type { Finding } from "./change.ts";
import { childOf, isEqual, isNode, type Node, namesIn, rootOf, type Spot } from "./spot.ts";

/**
 * Every other difference of two contracts: words, examples, and parts that nothing refers to. Nobody's program can tell,
 * but a document that differs is another one, and has another version.
 */
export function findLeftovers(base: Node, revision: Node, found: readonly Finding[]): Finding[] {
  const pointers = found.map(({ pointer }) => pointer);
  const isWithin = (one: string, other: string) => one === other || one.startsWith(`${other}/`);
  return differences(rootOf(base), rootOf(revision))
    .filter((pointer) => !pointers.some((other) => isWithin(pointer, other) || isWithin(other, pointer)))
    .filter((pointer) => pointer !== "/info/version") // what the changes are held against
    .map((pointer) => ({ pointer, use: "", what: `${pointer.split("/").at(-1)} changed`, level: "patch" }));
}

/** Pointers to the smallest parts that differ, as the documents are written: a reference is a part like others. */
function differences(base: Spot, revision: Spot): string[] {
  if (isEqual(base.value, revision.value)) return [];
  if (!isNode(base.value) || !isNode(revision.value)) return [revision.pointer];
  const names = new Set([...namesIn(base), ...namesIn(revision)]);
  return [...names].flatMap((name) => differences(childOf(base, name), childOf(revision, name)));
}
