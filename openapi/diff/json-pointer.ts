/** Objects of a document, and JSON Pointers (RFC 6901). Like `openapi/document`, because the diff imports nothing from elsewhere. */
import { unescape as decodeUri } from "node:querystring"; // which never throws

export type Node = { readonly [name: string]: unknown };

export const METHODS = ["get", "put", "post", "delete", "options", "head", "patch", "trace", "query"];

export const isNode = (value: unknown): value is Node =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The members of an object; none of any other value. */
export const membersOf = (value: unknown) => (isNode(value) ? Object.entries(value) : []);

export function memberOf(value: unknown, name: string | number): unknown {
  const hasIt = typeof value === "object" && value !== null && Object.hasOwn(value, name);
  return hasIt ? (value as Node)[name] : undefined;
}

/** Whether two JSON values are the same, in whatever order their members are. */
export function isEqual(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null) return false;
  const [keys, others] = [Object.keys(one), Object.keys(other)];
  if (keys.length !== others.length || Array.isArray(one) !== Array.isArray(other)) return false;
  return keys.every((key) => key in other && isEqual((one as Node)[key], (other as Node)[key]));
}

/** The types of JSON values; a number is an integer or has a fraction. */
export const TYPES = ["null", "boolean", "integer", "fraction", "string", "array", "object"] as const;
export type Type = (typeof TYPES)[number];

export function typeOf(value: unknown): Type {
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "fraction";
  return value === null ? "null" : Array.isArray(value) ? "array" : (typeof value as Type);
}
export const includesType = (types: unknown, type: Type) =>
  [types].flat().some((one) => one === type || (one === "number" && ["integer", "fraction"].includes(type)));

/** One name as a step of a pointer, with the slash before it. */
export const step = (name: string | number) =>
  `/${/[~/]/.test(`${name}`) ? `${name}`.replaceAll("~", "~0").replaceAll("/", "~1") : name}`;
const unescapeName = (name: string) =>
  name.includes("~") ? name.replaceAll("~1", "/").replaceAll("~0", "~") : name;
export const stepsOf = (pointer: string) => pointer.split("/").slice(1).map(unescapeName);
export const nameAt = (pointer: string) => unescapeName(pointer.slice(pointer.lastIndexOf("/") + 1));

/** The pointer that a reference within a document has; undefined for another reference, or none. */
export function targetOf(value: unknown): string | undefined {
  const target = memberOf(value, "$ref");
  return typeof target === "string" && target.startsWith("#") ? decodeUri(target.slice(1)) : undefined;
}

type Found = { readonly pointer: string; readonly value: unknown };
/** A document, and the parts of it that were looked for. */
export type Source = { readonly root: unknown; readonly found: Map<string, Found | undefined> };
/** The part at a pointer, and its own pointer after the references on the way; undefined when there is none. */
export function locate(source: Source, pointer: string): Found | undefined {
  if (pointer === "") return { pointer, value: source.root };
  if (source.found.has(pointer)) return source.found.get(pointer);
  source.found.set(pointer, undefined); // a reference that leads to itself leads to nothing
  const holder = locate(source, pointer.slice(0, pointer.lastIndexOf("/")));
  const value = memberOf(holder?.value, nameAt(pointer));
  const own = { pointer: `${holder?.pointer}${pointer.slice(pointer.lastIndexOf("/"))}`, value };
  const isBare = membersOf(value).every(([name]) => ["$ref", "summary", "description"].includes(name));
  const target = isBare ? targetOf(value) : undefined;
  const found = (target === undefined ? undefined : locate(source, target)) ?? own;
  source.found.set(pointer, value === undefined ? undefined : found);
  return source.found.get(pointer);
}

/** Pairs what has the same key in two lists; of several, one after the other. */
export function pairUp<One>(before: readonly One[], after: readonly One[], keyOf: (one: One) => string) {
  const [old, now] = [Map.groupBy(before, keyOf), Map.groupBy(after, keyOf)];
  return [...new Set([...old.keys(), ...now.keys()])].flatMap((key) => {
    const [olds, nows] = [old.get(key) ?? [], now.get(key) ?? []];
    const longer = olds.length > nows.length ? olds : nows;
    return longer.map((_, at) => [olds[at], nows[at]] as const);
  });
}

/** Everything that can be reached from these by `next`, and these themselves. */
export function closure<One>(from: Iterable<One>, next: (one: One) => Iterable<One>): Set<One> {
  const reached = new Set(from);
  // What is added while this runs is visited, too.
  for (const one of reached) for (const other of next(one)) reached.add(other);
  return reached;
}
