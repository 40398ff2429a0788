/** An object of a document, as parsed. */
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

/** One name as a step of a JSON Pointer (RFC 6901), with the slash before it. */
export const step = (name: string | number) => `/${String(name).replaceAll("~", "~0").replaceAll("/", "~1")}`;
export const stepsOf = (pointer: string): string[] =>
  pointer
    .split("/")
    .slice(1)
    .map((name) => name.replaceAll("~1", "/").replaceAll("~0", "~"));

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

/** A copy of the document in which the spellings of OpenAPI 3.0, such as `nullable`, are those of 3.1. */
export const toOpenApi31 = (document: unknown) =>
  translate(document, String(memberOf(document, "openapi")).startsWith("3.0"));

function translate(value: unknown, isOld: boolean): unknown {
  if (Array.isArray(value)) return value.map((one) => translate(one, isOld));
  if (!isNode(value)) return value;
  const node = Object.fromEntries(membersOf(value).map(([name, part]) => [name, translate(part, isOld)]));
  if (!isOld) return node;
  if (typeof node.$ref === "string") return { $ref: node.$ref }; // what stands beside it means nothing in 3.0
  if (node.nullable === true && typeof node.type === "string") node.type = [node.type, "null"];
  if (typeof node.nullable === "boolean") delete node.nullable;
  for (const side of ["Minimum", "Maximum"]) {
    const [bound, exclusive] = [side.toLowerCase(), `exclusive${side}`];
    if (node[exclusive] === true) Object.assign(node, { [exclusive]: node[bound], [bound]: undefined });
    if (typeof node[exclusive] === "boolean") delete node[exclusive];
  }
  return node;
}

/** The second document, which reuses the first one's object wherever it and its references are equal, so that `===` means unchanged. */
export function share(base: unknown, revision: unknown): unknown {
  const textOf = (value: unknown) => JSON.stringify(value) ?? "";
  const referencesIn = (text: string) =>
    Array.from(text.matchAll(/"\$ref":"#([^"]*)"/g), ([, to = ""]) => to);
  const at = (document: unknown, to: string) => textOf(locate(document, decodeURIComponent(to))?.value);
  const users = new Map(referencesIn(textOf([base, revision])).map((to) => [to, [] as string[]]));
  for (const to of users.keys()) for (const used of referencesIn(at(base, to))) users.get(used)?.push(to);
  const touched = new Set([...users.keys()].filter((to) => at(base, to) !== at(revision, to)));
  // What is added while this runs is visited, too.
  for (const to of touched) for (const user of users.get(to) ?? []) touched.add(user);
  const merge = (before: unknown, after: unknown): unknown => {
    const text = textOf(after);
    if (text === textOf(before) && !referencesIn(text).some((to) => touched.has(to))) return before;
    if (Array.isArray(after)) return after.map((one, index) => merge(memberOf(before, index), one));
    if (!isNode(after)) return after;
    return Object.fromEntries(
      membersOf(after).map(([name, one]) => [name, merge(memberOf(before, name), one)]),
    );
  };
  return merge(base, revision);
}
