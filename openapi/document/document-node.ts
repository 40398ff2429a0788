import { step, valueAt } from "./pointer.ts";

/** An object of an OpenAPI document, as parsed: the reader of a member checks its type. */
export type Node = { readonly [name: string]: unknown };

export type Reference = Node & { readonly $ref: string };

export function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function isReference(value: unknown): value is Reference {
  return isNode(value) && typeof value.$ref === "string";
}

/** Lists the members of a part that may be absent. */
export function members(part: unknown): [string, Node][] {
  return Object.entries((part ?? {}) as Record<string, Node>);
}

/** Follows a part of a document to the end of its references. A reference that leads nowhere gives an empty object. */
export function follow(document: Node, part: unknown): Node {
  const target = isReference(part) ? find(document, part.$ref.slice(1))[1] : part;
  return isNode(target) ? target : {};
}

/** Finds the part at a pointer after following references, and its own pointer; `part` is undefined when there is none. */
export function find(document: Node, pointer: string): [pointer: string, part: unknown] {
  const part = valueAt(document, pointer);
  return isReference(part) ? find(document, part.$ref.slice(1)) : [pointer, part];
}

/**
 * As `find`, for parts that must be there. Throws on a pointer that leads nowhere, and on a `$ref` with other members beside
 * it, because readers of documents disagree about those.
 */
export function locate(document: Node, pointer: string): [pointer: string, part: Node] {
  const part = valueAt(document, pointer);
  if (typeof part !== "object" || part === null) throw new Error(`the document has nothing at ${pointer}`);
  if (!isReference(part)) return [pointer, part as Node];
  if (Object.keys(part).length > 1) throw new Error(`there are members beside the $ref at ${pointer}`);
  return locate(document, part.$ref.slice(1));
}

/** The part of a document at a pointer, with every reference in it followed. Parts with recursive references have no end. */
export function dereference(document: Node, pointer: string): unknown {
  const [here, part] = find(document, pointer);
  if (Array.isArray(part)) return part.map((_item, index) => dereference(document, `${here}/${index}`));
  if (!isNode(part)) return part;
  return Object.fromEntries(
    Object.keys(part).map((name) => [name, dereference(document, here + step(name))]),
  );
}

export type Visited = { readonly path: readonly string[]; readonly part: unknown };

/** Members of a document whose own members may have any name, such as those of fields. */
const FREE_NAMES = [
  ...["properties", "patternProperties", "dependentSchemas", "dependentRequired"],
  ...["schemas", "parameters", "headers", "encoding", "callbacks", "links"],
];

/**
 * Walks all parts of a document depth first, parents first, and follows no references. Members named in `skip`
 * are left out: `examples` hold data, in which a member such as `x-source` means nothing. A field of such a name is not skipped.
 */
export function* walk(
  document: unknown,
  skip: readonly string[] = [],
  path: readonly string[] = [],
  hasFreeNames = false,
): Generator<Visited> {
  yield { path, part: document };
  if (typeof document !== "object" || document === null) return;
  for (const [name, part] of Object.entries(document)) {
    if (!hasFreeNames && skip.includes(name)) continue;
    yield* walk(part, skip, [...path, name], !hasFreeNames && FREE_NAMES.includes(name));
  }
}
