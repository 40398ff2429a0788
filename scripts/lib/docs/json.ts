/** A part of a contract. */
export type Json = { readonly [name: string]: unknown };

/** The part that a reference leads to, or the part itself. */
export function follow(document: Json, part: unknown): Json {
  const { $ref } = (part ?? {}) as Json;
  if (typeof $ref !== "string") return (part ?? {}) as Json;
  const names = $ref.split("/").slice(1);
  return follow(
    document,
    names.reduce<unknown>((holder, name) => (holder as Json)[name], document),
  );
}

/** The members of an object, or none. */
export function entriesOf(part: unknown): [string, Json][] {
  return Object.entries((part ?? {}) as Record<string, Json>);
}
