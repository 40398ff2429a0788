/** What a mutant is: a named change at a place in the contract. */
import type { Node } from "../../../openapi/document/document-node.ts";
import { shorten } from "../../../openapi/document/keyword-test-values.ts";
import { holderOf, nameAt, removeAt, setAt, valueAt } from "../../../openapi/document/pointer.ts";

/** One change of the meaning of a document, which tests must detect. */
export type Mutant = {
  /** The kind of change, such as `maxLength changed`. */
  readonly kind: string;
  /** JSON Pointer to the changed part, references followed. */
  readonly pointer: string;
  /** Its unique name in reports. */
  readonly name: string;
  /** The document with the change; the given one stays as it is. */
  apply(document: Node): Node;
};

/** A part of a document that can be written to. */
export type Draft = { [name: string]: unknown };

/** Changes the parent of the part at the pointer, which has the part as its member `name`. */
type Change = (holder: Draft, name: string) => void;

export function mutant(pointer: string, kind: string, change: Change, detail = ""): Mutant {
  return define(pointer, kind, detail, (document) => {
    const copy = structuredClone(document);
    change(valueAt(copy, holderOf(pointer)) as Draft, nameAt(pointer));
    return copy;
  });
}

/** Replaces the value at the pointer. */
export function put(pointer: string, kind: string, value: unknown): Mutant {
  return define(pointer, kind, `to ${shorten(value, 500)}`, (document) => setAt(document, pointer, value));
}

/** Removes the value at the pointer, also from a list. */
export function remove(pointer: string, kind: string): Mutant {
  return define(pointer, kind, "", (document) => removeAt(document, pointer));
}

function define(pointer: string, kind: string, detail: string, apply: Mutant["apply"]): Mutant {
  return { kind, pointer, name: `${pointer} ${kind}${detail && ` ${detail}`}`, apply };
}

/** Renames a member without moving it. */
export function renameMember(holder: Draft, name: string, to: string): void {
  const entries = Object.entries(holder);
  for (const [old] of entries) delete holder[old];
  for (const [old, value] of entries) holder[old === name ? to : old] = value;
}
