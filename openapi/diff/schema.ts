import { isDeepStrictEqual } from "node:util";
import { isNode, locate, memberOf, membersOf, type Node } from "./document.ts";
import { EXTENSIONS } from "./extensions.ts";

/** A schema without texts. What is the same is one object, and its references are numbers of the table below, such as `s:12`. */
export type Schema = boolean | Node;
/** Where a schema is written. Callers don't send what is `readOnly`, and don't get what is `writeOnly`. */
export type Place = {
  readonly document: unknown;
  readonly pointer: string;
  readonly hidden: "readOnly" | "writeOnly";
};
export type Located = Place & { readonly schema: Schema };

/** Keywords that hold one schema, a list of schemas, or schemas by name. */
export const ONE = ["not", "if", "then", "else", "items", "contains", "additionalProperties", "propertyNames", "unevaluatedItems", "unevaluatedProperties"]; // biome-ignore format: a list
export const LIST = ["allOf", "anyOf", "oneOf", "prefixItems"];
export const MAP = ["properties", "patternProperties", "dependentSchemas"];
const TEXT = ["title", "description", "summary", "example", "examples", "externalDocs", "$comment", "readOnly", "writeOnly", "xml", "$defs", "definitions", "$schema", "$id", "$anchor"]; // biome-ignore format: a list
/** Values with which a keyword says nothing. */
const IDLE = { minLength: 0, minItems: 0, minProperties: 0, uniqueItems: false, deprecated: false };

/** Whether a keyword informs readers, and promises nothing. */
export const isText = (name: string) =>
  TEXT.includes(name) || (name.startsWith("x-") && !(name in EXTENSIONS));

const known = { readOnly: new Map<unknown, Schema>(), writeOnly: new Map<unknown, Schema>() };
const numbers = { readOnly: new Map<unknown, string>(), writeOnly: new Map<unknown, string>() };
const targets: Place[] = [];

/** The schema at a pointer; `true` where there is none. */
export function schemaAt({ document, pointer, hidden }: Place): Located {
  const found = locate(document, pointer) ?? { pointer, value: true };
  const place = { document, pointer: found.pointer, hidden };
  const schema = known[hidden].get(found.value) ?? read(place, found.value);
  known[hidden].set(found.value, schema);
  return { ...place, schema };
}

/** The schema that a reference leads to; undefined where the document doesn't have it. */
export function referred(reference: unknown): Located | undefined {
  const target = /^s:\d+$/.test(String(reference)) ? targets[Number(String(reference).slice(2))] : undefined;
  return target && schemaAt(target);
}

function read(place: Place, value: unknown): Schema {
  if (!isNode(value)) return value !== false;
  if (isDeepStrictEqual(value.enum, [])) return false;
  const shown = membersOf(value.properties).filter(([, part]) => !isHidden(place, part));
  const isGone = (name: unknown) =>
    memberOf(value.properties, String(name)) !== undefined && !shown.some(([one]) => one === name);
  const readPart = (name: string, part: unknown): unknown => {
    if (name === "$ref") return numberOf(place, String(part));
    if (ONE.includes(name)) return read(place, part);
    const toNumber = (to: unknown) =>
      numberOf(place, /[/#]/.test(`${to}`) ? `${to}` : `#/components/schemas/${to}`);
    if (name === "discriminator") {
      const mapping = membersOf(memberOf(part, "mapping")).map(([tag, to]) => [tag, toNumber(to)]);
      return { ...(part as Node), mapping: Object.fromEntries(mapping) };
    }
    if (LIST.includes(name) && Array.isArray(part)) return part.map((one) => read(place, one));
    if (name === "required" && Array.isArray(part)) return part.filter((one) => !isGone(one));
    if (!MAP.includes(name)) return part;
    const parts = name === "properties" ? shown : membersOf(part);
    return Object.fromEntries(parts.map(([one, schema]) => [one, read(place, schema)]));
  };
  const entries = membersOf(value)
    .filter(([name, part]) => !isText(name) && part !== undefined && part !== memberOf(IDLE, name))
    .map(([name, part]) => [name, readPart(name, part)] as const);
  return unify(
    Object.fromEntries(entries.filter(([name, part]) => name !== "required" || String(part) !== "")),
  );
}

function isHidden({ document, hidden }: Place, part: unknown): boolean {
  const reference = String(memberOf(part, "$ref"));
  const target = reference.startsWith("#/") ? locate(document, reference.slice(1))?.value : undefined;
  return [part, target].some((one) => memberOf(one, hidden) === true);
}

function numberOf({ document, hidden }: Place, text: string): string {
  const pointer = text.startsWith("#") ? decodeURIComponent(text.slice(1)) : undefined;
  const found = pointer === undefined ? undefined : locate(document, pointer);
  if (!found) return text;
  const number = numbers[hidden].get(found.value) ?? `s:${targets.push({ ...found, document, hidden }) - 1}`;
  numbers[hidden].set(found.value, number);
  return number;
}

const ids = new Map<unknown, number>();
const unified = new Map<string, object>();

export const idOf = (value: unknown) => ids.get(value) ?? -1;
/** A text for a value; schemas in it are known by a number. */
const textOf = (value: unknown): string =>
  JSON.stringify(value, (_name, part) => (ids.has(part) ? `\0${ids.get(part)}` : part)) ?? "";

/** The first object that says the same. */
export function unify<Value extends object>(value: Value): Value {
  if (ids.has(value)) return value;
  const text = textOf(value);
  const first = unified.get(text) ?? value;
  if (first === value) ids.set(value, ids.size);
  unified.set(text, first);
  return first as Value;
}
