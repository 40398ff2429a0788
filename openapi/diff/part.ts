import { find, isNode, isReference, type Node } from "../document/node.ts";
import { step } from "../document/pointer.ts";

/** A part of a document: the location where it is used, and the one where it is defined, after following references. */
export type Part = {
  readonly document: Node;
  readonly asked: string;
  readonly pointer: string;
  readonly value: unknown;
  /** Of a schema: others that the same values have to match. */
  readonly beside?: readonly Part[];
};

/** The same part of two documents. */
export type Pair = { readonly base: Part; readonly revision: Part };

/** The whole document. */
export function rootOf(document: Node): Part {
  return { document, asked: "", pointer: "", value: document };
}

/** A part of a part, by its names; references on the way are followed. */
export function at(part: Part, ...names: readonly (string | number)[]): Part {
  return names.reduce<Part>((holder, name) => {
    const child = childOf(holder, name);
    if (!isReference(child.value)) return child;
    const [pointer, value] = find(part.document, child.value.$ref.slice(1));
    return { ...child, pointer, value };
  }, part);
}

/** A part of a part, without following references. */
export function childOf({ document, pointer, value }: Part, name: string | number): Part {
  const asked = pointer + step(name);
  const child = isNode(value) || Array.isArray(value) ? (value as Node)[name] : undefined;
  return { document, asked, pointer: asked, value: child };
}

/** The names in an object; empty for any other value. */
export function namesIn({ value }: Part): string[] {
  return isNode(value) ? Object.keys(value) : [];
}

export function inside({ base, revision }: Pair, name: string): Pair {
  return { base: at(base, name), revision: at(revision, name) };
}

/** What a comparison finds in the parts that either of the two has. */
export function eachOf<Found>(pair: Pair, compare: (name: string, pair: Pair) => Found[]): Found[] {
  const names = new Set([...namesIn(pair.base), ...namesIn(pair.revision)]);
  return [...names].flatMap((name) => compare(name, inside(pair, name)));
}
