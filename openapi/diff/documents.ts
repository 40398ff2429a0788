/** Makes one document of two (OpenAPI 3.1): the one after is at `/x-after`, and only references to what has changed lead there. */
import { closure, isNode, locate, memberOf, type Node, type Source, targetOf } from "./json-pointer.ts";

/** A schema as read, without its texts. */
export type Schema = boolean | Node;

/** The document before, with the one after as a member, and the schemas that were read. */
export type Documents = Source & {
  readonly schemas: Map<string, Schema>;
  readonly names: readonly string[];
  /** Whether anything is hidden from callers or receivers. */
  readonly isMarked: boolean;
};
/** Where the document after is. */
export const AFTER = "/x-after";
/** A pointer as it is in its own document. */
export const ownPointer = (pointer: string) => pointer.replace(AFTER, "");

/** A pointer with the file that it leads into, which is `name` where the document isn't split. */
export function fileAndPointer(pointer: string, name?: string): string {
  const [, file = name, rest = pointer] = /^\/x-files\/([^/]*)(.*)/.exec(pointer) ?? [];
  return file === undefined ? pointer : `${file.replaceAll("~1", "/")}#${rest}`;
}

/** What a part of a document has to do before it can be compared. */
export function invalidAt({ names }: Documents, pointer: string, need: string): Error {
  const place = fileAndPointer(ownPointer(pointer), names[pointer.startsWith(AFTER) ? 1 : 0]);
  return new Error(`${place} has to ${need}. Correct it.`);
}

export function toDocuments(base: unknown, revision: unknown, names = ["before", "after"]): Documents {
  const [before, after] = [base, revision].map((written) =>
    String(memberOf(written, "openapi")).startsWith("3.0") ? toOpenApi31(written) : written,
  );
  const [old = "", now = ""] = [before, after].map((document) => JSON.stringify(document));
  const changed = changedTargets(before, after, targetsIn(old + now));
  const text = now.replaceAll(REFERENCE, (whole, to) =>
    changed.has(to) ? `"$ref":"#${AFTER}${to}"` : whole,
  );
  const root = { ...(before as Node), [AFTER.slice(1)]: changed.size > 0 ? JSON.parse(text) : after };
  // Where nothing is hidden from anybody, requests and responses have the same schemas.
  const isMarked = /"(read|write)Only":true/.test(old + now);
  return { root, found: new Map(), schemas: new Map(), names, isMarked };
}

const REFERENCE = /"\$ref":"#([^"]*)"/g;
const targetsIn = (text = "") => Array.from(text.matchAll(REFERENCE), ([, to = ""]) => to);

/** The targets of references whose values differ, or refer to a value that differs. */
function changedTargets(before: unknown, after: unknown, targets: readonly string[]): Set<string> {
  const sources = [before, after].map((root): Source => ({ root, found: new Map() }));
  const users = new Map(targets.map((to) => [to, new Set<string>()]));
  const changed = new Set<string>();
  for (const to of users.keys()) {
    const [old, now] = sources.map((source) =>
      JSON.stringify(locate(source, targetOf({ $ref: `#${to}` }) ?? "")?.value),
    );
    if (old !== now) changed.add(to);
    for (const used of targetsIn(old === now ? now : `${old}${now}`)) users.get(used)?.add(to);
  }
  return closure(changed, (to) => users.get(to) ?? []);
}

/** A copy in which the spellings of OpenAPI 3.0, such as `nullable`, are those of 3.1. */
function toOpenApi31(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toOpenApi31);
  if (!isNode(value)) return value;
  if (typeof value.$ref === "string") return { $ref: value.$ref }; // what stands beside it means nothing in 3.0
  const node: Record<string, unknown> = { ...value };
  for (const name of Object.keys(node)) node[name] = toOpenApi31(node[name]);
  if (node.nullable === true && typeof node.type === "string") node.type = [node.type, "null"];
  if (typeof node.nullable === "boolean") delete node.nullable;
  for (const [bound, exclusive] of BOUNDS) {
    if (node[exclusive] === true) Object.assign(node, { [exclusive]: node[bound], [bound]: undefined });
    if (typeof node[exclusive] === "boolean") delete node[exclusive];
  }
  return node;
}
const BOUNDS = [["minimum", "exclusiveMinimum"], ["maximum", "exclusiveMaximum"]] as const; // biome-ignore format: one line
