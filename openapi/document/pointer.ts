import {
  compileJSONPointer,
  compileJSONPointerProp,
  deleteIn,
  parseJSONPointer,
  setIn,
} from "immutable-json-patch";

/** Writes the JSON Pointer (RFC 6901) that leads through these names: `/paths/~1v1~1refunds`. */
export function toPointer(names: readonly (string | number)[]): string {
  return compileJSONPointer(names.map(String));
}

/** Writes one name as a step of a JSON Pointer, with the slash before it. */
export function step(name: string | number): string {
  return compileJSONPointerProp(name);
}

/** Reads the names that a JSON Pointer leads through. */
export function stepsOf(pointer: string): string[] {
  return parseJSONPointer(pointer);
}

/** Reads the value at a pointer; undefined where there is none. Takes references as they are written. */
export function valueAt(document: unknown, pointer: string): unknown {
  return stepsOf(pointer).reduce<unknown>(
    (holder, name) =>
      typeof holder === "object" && holder !== null && Object.hasOwn(holder, name)
        ? Reflect.get(holder, name)
        : undefined,
    document,
  );
}

/** Copies a document with another value at a pointer. Throws where nothing can hold the value. */
export function setAt<Document>(document: Document, pointer: string, value: unknown): Document {
  return setIn(document, stepsOf(pointer), value);
}

/** Copies a document without the member or the item at a pointer. Throws where nothing could hold it. */
export function removeAt<Document>(document: Document, pointer: string): Document {
  return deleteIn(document, stepsOf(pointer));
}
