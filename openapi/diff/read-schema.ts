/** Reads schemas of a document without their texts. What says the same is one object, so that `===` means equal. */
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { type Documents, invalidAt, type Schema } from "./documents.ts";
import { EXTENSIONS } from "./extensions.ts";
import { includesType, isNode, locate, memberOf, membersOf, targetOf, typeOf } from "./json-pointer.ts";

export const ajv = new Ajv2020({ strict: false, validateSchema: false, multipleOfPrecision: 6 });
(addFormats as unknown as (ajv: Ajv2020) => void)(ajv); // its types are those of CommonJS
/** Where a schema is written. Callers don't send what is `readOnly`, and don't get what is `writeOnly`. */
export type Place = {
  readonly documents: Documents;
  readonly pointer: string;
  readonly hidden: "readOnly" | "writeOnly";
};
/** `outer` are schemas that surely apply to the same value. */
export type Located = Place & { readonly schema: Schema; readonly outer?: readonly Located[] | undefined };

/** Keywords that hold one schema, a list of schemas, or schemas by name. */
const ONE = ["not", "if", "then", "else", "items", "contains", "additionalProperties", "propertyNames", "unevaluatedItems", "unevaluatedProperties"]; // biome-ignore format: a list
const LIST = ["allOf", "anyOf", "oneOf", "prefixItems"];
const MAP = ["properties", "patternProperties", "dependentSchemas"];
const TEXT = ["title", "description", "summary", "example", "examples", "externalDocs", "$comment", "readOnly", "writeOnly", "xml", "$defs", "definitions", "$schema", "$id", "$anchor"]; // biome-ignore format: a list
/** Values with which a keyword says nothing. */
const IDLE = { minLength: 0, minItems: 0, minProperties: 0, uniqueItems: false, deprecated: false };

/** Whether a keyword informs readers, and promises nothing. */
export const isText = (name: string) =>
  TEXT.includes(name) || (name.startsWith("x-") && !(name in EXTENSIONS));

/** The schema at a pointer; `true` where there is none. */
export function schemaAt({ documents, pointer, hidden }: Place): Located {
  const found = locate(documents, pointer) ?? { pointer, value: true };
  const place = { documents, pointer: found.pointer, hidden };
  const key = `${hidden} ${found.pointer}`;
  const schema = documents.schemas.get(key) ?? read(place, found.value);
  documents.schemas.set(key, schema);
  return { ...place, schema };
}

/** The schema that a reference leads to; undefined where the document doesn't have it. */
export const referred = (reference: unknown): Located | undefined =>
  isNode(reference) ? schemaAt(reference as Place) : undefined;

function read(place: Place, value: unknown): Schema {
  if (typeof value === "boolean") return value;
  if (!isNode(value)) throw invalidAt(place.documents, place.pointer, "have a schema");
  if ((value.enum as unknown[] | undefined)?.length === 0) return false;
  const isMarked = (part: unknown) => memberOf(part, place.hidden) === true;
  const isHidden = (part: unknown) =>
    isMarked(part) || isMarked(locate(place.documents, targetOf(part) ?? "")?.value);
  const gone = membersOf(value.properties).flatMap(([name, part]) => (isHidden(part) ? [name] : []));
  const readPart = (name: string, part: unknown): unknown => {
    const { schemaType = [] } = ajv.getKeyword(name) as { schemaType?: string[] };
    if (schemaType.length > 0 && !schemaType.some((type) => includesType(type, typeOf(part))))
      throw invalidAt(place.documents, place.pointer, `have ${name} of type ${schemaType.join(" or ")}`);
    if (name === "$ref") return placeOf(place, String(part));
    if (ONE.includes(name)) return read(place, part);
    if (LIST.includes(name)) return (part as unknown[]).map((one) => read(place, one));
    if (name === "required") return (part as unknown[]).map(String).filter((one) => !gone.includes(one));
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

/** Where a reference leads to, as one object for all that lead there. */
function placeOf({ documents, hidden }: Place, text: string): object | string {
  const pointer = targetOf({ $ref: text });
  const found = pointer === undefined ? undefined : locate(documents, pointer);
  if (found === undefined) return text;
  const place = { documents, pointer: found.pointer, hidden };
  return unify(place, `place ${idOf(unify(documents, `documents ${ids.size}`))} ${hidden} ${found.pointer}`);
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
