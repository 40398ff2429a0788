/** Objects of a parsed document, and JSON Pointers (RFC 6901) to its parts. */
export type Node = { readonly [name: string]: unknown };

export const METHODS = ["get", "put", "post", "delete", "options", "head", "patch", "trace", "query"];

export const isNode = (value: unknown): value is Node =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The members of an object; none of any other value. */
export const membersOf = (value: unknown) => (isNode(value) ? Object.entries(value) : []);

export function memberOf(value: unknown, name: string | number): unknown {
  const hasIt = typeof value === "object" && value !== null && Object.hasOwn(value, name);
  return hasIt ? (value as Node)[name] : undefined;
}

/** One name as a step of a pointer, with the slash before it. */
export const step = (name: string | number) => `/${`${name}`.replaceAll("~", "~0").replaceAll("/", "~1")}`;
export const unescapeName = (name: string) => name.replaceAll("~1", "/").replaceAll("~0", "~");
export const stepsOf = (pointer: string) => pointer.split("/").slice(1).map(unescapeName);
export const nameAt = (pointer: string) => unescapeName(pointer.slice(pointer.lastIndexOf("/") + 1));

/** The pointer that a reference within a document has; undefined for another reference, or none. */
export function targetOf(value: unknown): string | undefined {
  const target = memberOf(value, "$ref");
  return typeof target === "string" && target.startsWith("#")
    ? decodeURIComponent(target.slice(1))
    : undefined;
}

type Found = { readonly pointer: string; readonly value: unknown };
/** The part at a pointer, and its own pointer after the references on the way; undefined when there is none. */
export function locate(document: unknown, pointer: string, hops = 0): Found | undefined {
  let found: Found = { pointer: "", value: document };
  for (const name of pointer.split("/").slice(1)) {
    const value = memberOf(found.value, unescapeName(name));
    if (value === undefined) return undefined;
    found = { pointer: `${found.pointer}/${name}`, value };
    const target = targetOf(value);
    if (target === undefined || hops > 50) continue;
    if (Object.keys(value as Node).some((one) => !["$ref", "summary", "description"].includes(one))) continue;
    found = locate(document, target, hops + 1) ?? found;
  }
  return found;
}

/** Pairs what has the same key in two lists; of several, one after the other. */
export function pairUp<One>(before: readonly One[], after: readonly One[], keyOf: (one: One) => string) {
  const [old, now] = [Map.groupBy(before, keyOf), Map.groupBy(after, keyOf)];
  return [...new Set([...old.keys(), ...now.keys()])].flatMap((key) => {
    const [olds, nows] = [old.get(key) ?? [], now.get(key) ?? []];
    const length = Math.max(olds.length, nows.length);
    return Array.from({ length }, (_, at) => [olds[at], nows[at]] as const);
  });
}

/** All that leads from something to something else, and on. */
export function closure<One>(from: Iterable<One>, next: (one: One) => readonly One[] | undefined): Set<One> {
  const reached = new Set(from);
  // What is added while this runs is visited, too.
  for (const one of reached) for (const other of next(one) ?? []) reached.add(other);
  return reached;
}
