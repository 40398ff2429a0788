import { isDeepStrictEqual } from "node:util";
import { isNode, locate, memberOf, membersOf, type Node, step } from "./document.ts";
import { EXTENSIONS } from "./extensions.ts";

/** A schema without what only informs readers. Its references are numbers of the table below, such as `s:12`. */
export type Schema = boolean | Node;
/** A document as one side sees it: callers don't send what is `readOnly`, and don't get what is `writeOnly`. */
export type View = {
  readonly document: unknown;
  readonly hidden: "readOnly" | "writeOnly";
  readonly known: Map<string, Schema>;
  readonly references: Map<string, string>;
};
export type Located = { readonly schema: Schema; readonly pointer: string; readonly view: View };

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

const views = new WeakMap<object, Record<string, View>>();
export function viewOf(document: unknown, hidden: View["hidden"]): View {
  const known = views.get(document as object) ?? {};
  const view = known[hidden] ?? { document, hidden, known: new Map(), references: new Map() };
  views.set(document as object, { ...known, [hidden]: view });
  return view;
}

const targets: { readonly view: View; readonly pointer: string }[] = [];

/** The schema at a pointer; `true` where there is none. Each exists once, so that it can be a key. */
export function schemaAt(view: View, pointer: string): Located {
  const found = locate(view.document, pointer) ?? { pointer, value: true };
  const schema = view.known.get(found.pointer) ?? read(view, found.value, found.pointer);
  view.known.set(found.pointer, schema);
  return { schema, pointer: found.pointer, view };
}

/** A text for each schema of a document. */
export const written = new WeakMap<object, string>();

function read(view: View, value: unknown, pointer: string): Schema {
  if (!isNode(value)) return value !== false;
  if (isDeepStrictEqual(value.enum, [])) return false;
  const shown = membersOf(value.properties).filter(([, part]) => !isHidden(view, part));
  const isGone = (name: unknown) =>
    memberOf(value.properties, String(name)) !== undefined && !shown.some(([one]) => one === name);
  const readPart = (name: string, part: unknown): unknown => {
    const at = pointer + step(name);
    if (name === "$ref") return referenceOf(view, String(part));
    if (ONE.includes(name)) return read(view, part, at);
    if (LIST.includes(name) && Array.isArray(part))
      return part.map((one, index) => read(view, one, `${at}/${index}`));
    if (name === "required" && Array.isArray(part)) return part.filter((one) => !isGone(one));
    if (!MAP.includes(name)) return part;
    const parts = name === "properties" ? shown : membersOf(part);
    return Object.fromEntries(parts.map(([one, schema]) => [one, read(view, schema, at + step(one))]));
  };
  const kept = Object.entries(value).filter(
    ([name, part]) => !isText(name) && part !== undefined && part !== memberOf(IDLE, name),
  );
  const entries = kept.map(([name, part]) => [name, readPart(name, part)] as const);
  const schema = Object.fromEntries(
    entries.filter(([name, part]) => name !== "required" || String(part) !== ""),
  );
  written.set(schema, `#${idOf(schema)}`);
  return schema;
}

function isHidden({ document, hidden }: View, part: unknown): boolean {
  const reference = String(memberOf(part, "$ref"));
  const target = reference.startsWith("#/") ? locate(document, reference.slice(1))?.value : undefined;
  return [part, target].some((one) => memberOf(one, hidden) === true);
}

function referenceOf(view: View, text: string): string {
  const pointer = text.startsWith("#") ? decodeURIComponent(text.slice(1)) : undefined;
  if (pointer === undefined || locate(view.document, pointer) === undefined) return text;
  const known = view.references.get(pointer) ?? `s:${targets.push({ view, pointer }) - 1}`;
  view.references.set(pointer, known);
  return known;
}

/** The schema that a reference leads to; undefined where the document doesn't have it. */
export function referred(reference: unknown): Located | undefined {
  const target = /^s:\d+$/.test(String(reference)) ? targets[Number(String(reference).slice(2))] : undefined;
  return target && schemaAt(target.view, target.pointer);
}

const ids = new WeakMap<object, number>();
let count = 0;
/** A number for a schema, and the same for the same. */
export function idOf(schema: Node): number {
  const id = ids.get(schema) ?? count++;
  ids.set(schema, id);
  return id;
}

const verdicts = new Map<string, boolean>();

/** Whether two schemas say the same, apart from texts and from where they are. */
export function isSame(one: unknown, other: unknown): boolean {
  return supposing((assumed) => isAlike(one, other, assumed));
}

/** Whether two schemas have the same values of some keywords. */
export function saysTheSame(one: Node, other: Node, ...keywords: readonly string[]): boolean {
  return supposing((assumed) =>
    keywords.every((name) =>
      name in one ? name in other && hasAlike(name, one[name], other[name], assumed) : !(name in other),
    ),
  );
}

/** That schemas which refer to each other are alike is only known when none of them differs. */
function supposing(compare: (assumed: Set<string>) => boolean): boolean {
  const assumed = new Set<string>();
  const result = compare(assumed);
  if (result) for (const key of assumed) verdicts.set(key, true);
  return result;
}

function isAlike(one: unknown, other: unknown, assumed: Set<string>): boolean {
  if (one === other) return true;
  if (!isNode(one) || !isNode(other)) return isDeepStrictEqual(one, other);
  const key = `${idOf(one)}=${idOf(other)}`;
  const known = assumed.has(key) || verdicts.get(key);
  if (known !== undefined) return known;
  assumed.add(key);
  const names = Object.keys(one);
  const result =
    names.length === Object.keys(other).length &&
    names.every((name) => Object.hasOwn(other, name) && hasAlike(name, one[name], other[name], assumed));
  if (!result) verdicts.set(key, false);
  return result;
}

/** Whether two values of a keyword say the same. */
function hasAlike(name: string, old: unknown, now: unknown, assumed: Set<string>): boolean {
  if (name === "$ref") {
    const [left, right] = [referred(old), referred(now)];
    return left && right ? isAlike(left.schema, right.schema, assumed) : old === now;
  }
  if (name === "$dynamicRef") return false;
  if (ONE.includes(name)) return isAlike(old, now, assumed);
  if (![...LIST, ...MAP].includes(name)) return isDeepStrictEqual(old, now);
  const [olds, nows] = [Object.entries(old as object), Object.keys(now as object)];
  return (
    olds.length === nows.length &&
    olds.every(([key, part]) => nows.includes(key) && isAlike(part, memberOf(now, key), assumed))
  );
}
