/** Reads schemas of a document without their texts. What says the same is one object, so that `===` means equal. */
import { isDeepStrictEqual } from "node:util";
import type { Document, Schema } from "./documents.ts";
import { EXTENSIONS } from "./extensions.ts";
import { isNode, locate, memberOf, membersOf, type Node, targetOf } from "./json-pointer.ts";

/** Where a schema is written. Callers don't send what is `readOnly`, and don't get what is `writeOnly`. */
export type Place = {
  readonly document: Document;
  readonly pointer: string;
  readonly hidden: "readOnly" | "writeOnly";
};
export type Located = Place & { readonly schema: Schema };

/** Keywords that hold one schema, a list of schemas, or schemas by name. */
const ONE = ["not", "if", "then", "else", "items", "contains", "additionalProperties", "propertyNames", "unevaluatedItems", "unevaluatedProperties"]; // biome-ignore format: a list
const LIST = ["allOf", "anyOf", "oneOf", "prefixItems"];
const MAP = ["properties", "patternProperties", "dependentSchemas"];
export const HOLDERS = [...ONE, ...LIST, ...MAP, "$ref", "$dynamicRef"];
const TEXT = ["title", "description", "summary", "example", "examples", "externalDocs", "$comment", "readOnly", "writeOnly", "xml", "$defs", "definitions", "$schema", "$id", "$anchor"]; // biome-ignore format: a list
/** Values with which a keyword says nothing. */
const IDLE = { minLength: 0, minItems: 0, minProperties: 0, uniqueItems: false, deprecated: false };

/** Whether a keyword informs readers, and promises nothing. */
export const isText = (name: string) =>
  TEXT.includes(name) || (name.startsWith("x-") && !(name in EXTENSIONS));

/** The schema at a pointer; `true` where there is none. */
export function schemaAt({ document, pointer, hidden }: Place): Located {
  const found = locate(document.root, pointer) ?? { pointer, value: true };
  const place = { document, pointer: found.pointer, hidden };
  const key = `${hidden} ${found.pointer}`;
  const schema = document.schemas.get(key) ?? read(place, found.value);
  document.schemas.set(key, schema);
  return { ...place, schema };
}

/** The schema that a reference leads to; undefined where the document doesn't have it. */
export const referred = (reference: unknown): Located | undefined =>
  isNode(reference) ? schemaAt(reference as Place) : undefined;

function read(place: Place, value: unknown): Schema {
  if (!isNode(value)) return value !== false;
  if (isDeepStrictEqual(value.enum, [])) return false;
  const isHidden = (part: unknown) => {
    const target = targetOf(part);
    const parts = [part, target === undefined ? undefined : locate(place.document.root, target)?.value];
    return parts.some((one) => memberOf(one, place.hidden) === true);
  };
  const gone = membersOf(value.properties).flatMap(([name, part]) => (isHidden(part) ? [name] : []));
  const readPart = (name: string, part: unknown): unknown => {
    if (name === "$ref") return placeOf(place, String(part));
    if (ONE.includes(name)) return read(place, part);
    if (LIST.includes(name) && Array.isArray(part)) return part.map((one) => read(place, one));
    if (name === "required" && Array.isArray(part)) return part.filter((one) => !gone.includes(one));
    if (name === "discriminator") {
      const toPlace = (to: unknown) =>
        placeOf(place, /[/#]/.test(`${to}`) ? `${to}` : `#/components/schemas/${to}`);
      const mapping = membersOf(memberOf(part, "mapping")).map(([tag, to]) => [tag, toPlace(to)]);
      return { ...(part as Node), mapping: Object.fromEntries(mapping) };
    }
    if (!MAP.includes(name)) return part;
    const shown = membersOf(part).filter(([one]) => name !== "properties" || !gone.includes(one));
    return Object.fromEntries(shown.map(([one, schema]) => [one, read(place, schema)]));
  };
  const entries = membersOf(value)
    .filter(([name, part]) => !isText(name) && part !== undefined && part !== memberOf(IDLE, name))
    .map(([name, part]) => [name, readPart(name, part)] as const)
    .filter(([name, part]) => name !== "required" || String(part) !== "");
  return unify(Object.fromEntries(entries));
}

/** Where a reference leads to: one object for all that lead there, also from another document that has the same there. */
function placeOf(place: Place, text: string): object | string {
  const pointer = targetOf({ $ref: text }) ?? text;
  const { base } = place.document;
  const document = base && !base.changed.has(pointer) ? base.document : place.document;
  const found = locate(document.root, pointer);
  if (found === undefined || pointer === text) return text;
  const key = `${place.hidden} ${found.pointer}`;
  const target = { ...place, document, pointer: found.pointer };
  const known = document.places.get(key) ?? unify(target, `place ${ids.size}`);
  document.places.set(key, known);
  return known;
}

const ids = new Map<unknown, number>();
const unified = new Map<string, object>();

export const idOf = (value: unknown) => ids.get(value) ?? -1;
/** A text for a value; values that were unified are known by a number. */
export function textOf(value: unknown): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "";
  if (ids.has(value)) return `#${ids.get(value)}`;
  if (Array.isArray(value)) return `[${value.map(textOf)}]`;
  return `{${Object.entries(value).map(([name, part]) => `${JSON.stringify(name)}:${textOf(part)}`)}}`;
}

/** The first object that says the same. */
export function unify<Value extends object>(value: Value, text = textOf(value)): Value {
  if (ids.has(value)) return value;
  const first = unified.get(text) ?? value;
  if (first === value) ids.set(value, ids.size);
  unified.set(text, first);
  return first as Value;
}
