import { isDeepStrictEqual } from "node:util";
import { cosmetic } from "../document/comparisons.ts";
import { KEYWORDS } from "../document/keywords.ts";
import { isNode, isReference, type Node, walk } from "../document/node.ts";
import { METHODS } from "../document/operations.ts";
import { isWithin, nameAt, toPointer, valueAt } from "../document/pointer.ts";
import type { Finding } from "./change.ts";
import { childOf, eachOf, namesIn, type Pair, type Part, rootOf } from "./part.ts";

/** The members of each object that the diff compares, or whose parts it does. */
const COMPARED = {
  document: ["openapi", "info", "security", "paths", "webhooks", "components"],
  components: [
    "schemas",
    "responses",
    "parameters",
    "requestBodies",
    "headers",
    "securitySchemes",
    "pathItems",
  ],
  item: [...METHODS, "parameters"],
  operation: ["operationId", "deprecated", "security", "parameters", "requestBody", "responses"],
  parameter: ["name", "in", "required", "deprecated", "schema"],
  body: ["required", "content"],
  response: ["headers", "content"],
  media: ["schema"],
};

/** Members that only inform readers. */
const TEXT = [
  ...["summary", "tags"],
  ...Object.keys(KEYWORDS).filter((name) => KEYWORDS[name]?.compare === cosmetic),
];

/** What nothing here compares, such as another address: the worst is assumed, unless it is only text. */
export function compareUncompared(pair: Pair, kind: keyof typeof COMPARED, use: string): Finding[] {
  return eachOf(pair, (name, { base, revision }) => {
    if (COMPARED[kind].includes(name)) return [];
    const [before, after] = [base, revision].map(({ value }) => withoutText({ [name]: value }));
    if (isDeepStrictEqual(before, after)) return [];
    return [{ pointer: revision.asked, use, what: `${name} changed, and is not compared`, level: "major" }];
  });
}

/** Keywords beside a reference, which some readers ignore and others obey: the worst is assumed, unless they are only text. */
export function compareBesideReferences({ base, revision }: Pair): Finding[] {
  const [before, after] = [besideReferences(base.document), besideReferences(revision.document)];
  const nothing = withoutText({});
  const what = "keywords beside $ref changed, and are not compared";
  return [...new Set([...before.keys(), ...after.keys()])]
    .filter((pointer) => [base, revision].every(({ document }) => valueAt(document, pointer) !== undefined))
    .filter((pointer) => !isDeepStrictEqual(before.get(pointer) ?? nothing, after.get(pointer) ?? nothing))
    .map((pointer) => ({ pointer, use: "", what, level: "major" }));
}

function besideReferences(document: Node): Map<string, unknown> {
  const visited = [...walk(document, ["example", "examples"])];
  return new Map(
    visited.flatMap(({ path, part }) => {
      if (!isReference(part)) return [];
      const { $ref: _target, ...beside } = part;
      return [[toPointer(path), withoutText(beside)]];
    }),
  );
}

/** Every part but text, by its pointer; what has parts is only an empty object or list. */
function withoutText(value: Node): Map<string, unknown> {
  const emptied = (part: unknown) => (Array.isArray(part) ? [] : isNode(part) ? {} : part);
  return new Map(Array.from(walk(value, TEXT), ({ path, part }) => [toPointer(path), emptied(part)]));
}

/**
 * Every other difference between two contracts: wording, examples, and parts that nothing refers to. They affect no program,
 * but a different document needs a different version.
 */
export function findLeftovers(base: Node, revision: Node, found: readonly Finding[]): Finding[] {
  const pointers = found.map(({ pointer }) => pointer);
  return differences(rootOf(base), rootOf(revision))
    .filter((pointer) => !pointers.some((other) => isWithin(pointer, other) || isWithin(other, pointer)))
    .filter((pointer) => pointer !== "/info/version") // the version, with which the changes are compared
    .map((pointer) => ({ pointer, use: "", what: `${nameAt(pointer)} changed`, level: "patch" }));
}

/** Pointers to the smallest parts that differ in the documents as written: references are not followed. */
function differences(base: Part, revision: Part): string[] {
  if (isDeepStrictEqual(base.value, revision.value)) return [];
  if (!isNode(base.value) || !isNode(revision.value)) return [revision.pointer];
  const names = new Set([...namesIn(base), ...namesIn(revision)]);
  return [...names].flatMap((name) => differences(childOf(base, name), childOf(revision, name)));
}
