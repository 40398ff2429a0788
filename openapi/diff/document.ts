/** An object of a document, as parsed. */
export type Node = { readonly [name: string]: unknown };

export const METHODS = ["get", "put", "post", "delete", "options", "head", "patch", "trace", "query"];

export function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The members of an object; none of any other value. */
export function membersOf(value: unknown): [name: string, member: unknown][] {
  return isNode(value) ? Object.entries(value) : [];
}

export function memberOf(value: unknown, name: string | number): unknown {
  const hasIt = typeof value === "object" && value !== null && Object.hasOwn(value, name);
  return hasIt ? (value as Node)[name] : undefined;
}

/** One name as a step of a JSON Pointer (RFC 6901), with the slash before it. */
export function step(name: string | number): string {
  return `/${String(name).replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

export function stepsOf(pointer: string): string[] {
  const steps = pointer.split("/").slice(1);
  return steps.map((name) => name.replaceAll("~1", "/").replaceAll("~0", "~"));
}

export const nameAt = (pointer: string): string => stepsOf(pointer).at(-1) ?? "";

type Found = { readonly pointer: string; readonly value: unknown };
/** The part at a pointer, and its own pointer after the references on the way; undefined when there is none. */
export function locate(document: unknown, pointer: string, hops = 0): Found | undefined {
  let found: Found = { pointer: "", value: document };
  for (const name of stepsOf(pointer)) {
    const value = memberOf(found.value, name);
    if (value === undefined) return undefined;
    found = { pointer: found.pointer + step(name), value };
    const target = memberOf(value, "$ref");
    if (typeof target !== "string" || !target.startsWith("#") || hops > 50) continue;
    if (Object.keys(value as Node).some((one) => !["$ref", "summary", "description"].includes(one))) continue;
    found = locate(document, decodeURIComponent(target.slice(1)), hops + 1) ?? found;
  }
  return found;
}

/** The document as OpenAPI 3.1 says it, where 3.0 says the same in other words; one of 3.1 as it is. */
export function toOpenApi31(document: unknown): unknown {
  return String(memberOf(document, "openapi")).startsWith("3.0") ? translate(document) : document;
}

function translate(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(translate);
  if (!isNode(value)) return value;
  const { nullable, ...node } = Object.fromEntries(
    membersOf(value).map(([name, part]) => [name, translate(part)]),
  );
  if (typeof node.$ref === "string") return { $ref: node.$ref }; // what stands beside it means nothing in 3.0
  if (nullable !== undefined && typeof nullable !== "boolean") node.nullable = nullable;
  if (nullable === true && typeof node.type === "string") node.type = [node.type, "null"];
  for (const [name, exclusive] of [
    ["minimum", "exclusiveMinimum"],
    ["maximum", "exclusiveMaximum"],
  ] as const) {
    const { [name]: bound, [exclusive]: isExclusive } = node;
    if (typeof isExclusive !== "boolean") continue;
    delete node[exclusive];
    if (isExclusive && bound !== undefined) Object.assign(node, { [exclusive]: bound, [name]: undefined });
  }
  return node;
}
