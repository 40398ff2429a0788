/** A part of an OpenAPI document. */
export type Node = { readonly [name: string]: unknown };

/** A name as one step of a JSON Pointer, with the slash before it. */
export function step(name: string | number): string {
  return `/${String(name).replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

/** The names that a JSON Pointer leads through. */
export function stepsOf(pointer: string): string[] {
  return pointer
    .split("/")
    .slice(1)
    .map((name) => name.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/**
 * The part of a document at a pointer, and where it stands once references are followed. Throws on a pointer that leads
 * nowhere, and on words beside a `$ref`, which readers of documents treat differently.
 */
export function locate(document: Node, pointer: string): [string, Node] {
  const part = stepsOf(pointer).reduce<unknown>((holder, name) => (holder as Node)?.[name], document);
  if (typeof part !== "object" || part === null) throw new Error(`the document has nothing at ${pointer}`);
  const { $ref: reference, ...beside } = part as Node;
  if (typeof reference !== "string") return [pointer, part as Node];
  if (Object.keys(beside).length > 0) throw new Error(`there are words beside the $ref at ${pointer}`);
  return locate(document, reference.slice(1));
}

/** The members of a part that may be absent. */
export function members(part: unknown): [string, Node][] {
  return Object.entries((part ?? {}) as Record<string, Node>);
}
