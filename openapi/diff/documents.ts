/** Two documents in the words of OpenAPI 3.1, and which of their references lead to the same. */
import { isDeepStrictEqual } from "node:util";
import { closure, isNode, locate, memberOf, membersOf, type Node } from "./json-pointer.ts";

/** A schema as read, without its texts. */
export type Schema = boolean | Node;

export type Document = {
  readonly root: unknown;
  /** Schemas that were read, and the places that references lead to. */
  readonly schemas: Map<string, Schema>;
  readonly places: Map<string, object>;
  /** The document before, where all pointers that are referred to lead to the same, but for the changed ones. */
  readonly base?: { readonly document: Document; readonly changed: ReadonlySet<string> };
};

export function toDocuments(base: unknown, revision: unknown): readonly [Document, Document] {
  const toDocument = (written: unknown) => {
    const isOld = String(memberOf(written, "openapi")).startsWith("3.0");
    return { root: isOld ? toOpenApi31(written) : written, schemas: new Map(), places: new Map() };
  };
  const [document, after] = [toDocument(base), toDocument(revision)];
  return [document, { ...after, base: { document, changed: changedTargets(document.root, after.root) } }];
}

/** Whether a part refers to nothing that is another in the document before. */
export const isUnaffected = ({ base }: Document, part: unknown): boolean =>
  base?.changed.size === 0 || targetsIn(part).every((to) => !base?.changed.has(to));

const targetsIn = (...values: unknown[]) =>
  Array.from(JSON.stringify(values).matchAll(/:"#(\/[^"]*)"/g), ([, to = ""]) => decodeURIComponent(to));

/** Pointers that are referred to, if what is there differs, or refers to such. */
function changedTargets(before: unknown, after: unknown): Set<string> {
  const users = new Map(targetsIn(before, after).map((to) => [to, new Set<string>()]));
  const changed = new Set<string>();
  for (const to of users.keys()) {
    const [old, now] = [before, after].map((document) => locate(document, to)?.value);
    const isSame = isDeepStrictEqual(old, now);
    if (!isSame) changed.add(to);
    for (const used of isSame ? targetsIn(now) : targetsIn(old, now)) users.get(used)?.add(to);
  }
  return closure(changed, (to) => [...(users.get(to) ?? [])]);
}

/** A copy in which the spellings of OpenAPI 3.0, such as `nullable`, are those of 3.1. */
function toOpenApi31(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toOpenApi31);
  if (!isNode(value)) return value;
  if (typeof value.$ref === "string") return { $ref: value.$ref }; // what stands beside it means nothing in 3.0
  const node = Object.fromEntries(membersOf(value).map(([name, part]) => [name, toOpenApi31(part)]));
  if (node.nullable === true && typeof node.type === "string") node.type = [node.type, "null"];
  if (typeof node.nullable === "boolean") delete node.nullable;
  for (const side of ["Minimum", "Maximum"]) {
    const [bound, exclusive] = [side.toLowerCase(), `exclusive${side}`];
    if (node[exclusive] === true) Object.assign(node, { [exclusive]: node[bound], [bound]: undefined });
    if (typeof node[exclusive] === "boolean") delete node[exclusive];
  }
  return node;
}
