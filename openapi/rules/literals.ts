import { type Document, isAlias, isMap, isScalar, isSeq, parseDocument } from "yaml";
import type { Location } from "./redocly.ts";

const documents = new WeakMap<Location["source"], Document.Parsed>();

/**
 * The characters that a number is written with in its file, which its parsed value no longer shows: `10.10` and `1e1`
 * both parse. Undefined when there is no number at that place.
 */
export function numberLiteral({ source, pointer }: Location): string | undefined {
  const document = documents.get(source) ?? parseDocument(source.body);
  documents.set(source, document);

  let node: unknown = document.contents;
  for (const segment of segmentsOf(pointer)) {
    node = childOf(isAlias(node) ? node.resolve(document) : node, segment);
  }
  const scalar = isAlias(node) ? node.resolve(document) : node;
  return isScalar(scalar) && typeof scalar.value === "number" ? scalar.source : undefined;
}

function segmentsOf(pointer: string): string[] {
  return pointer
    .replace(/^#?\/?/, "")
    .split("/")
    .filter((segment) => segment !== "")
    .map((segment) => segment.replaceAll("~1", "/").replaceAll("~0", "~"));
}

function childOf(node: unknown, segment: string): unknown {
  if (isSeq(node)) return node.items[Number(segment)];
  // A key such as 201 is a number in YAML and a string in a pointer.
  if (isMap(node))
    return node.items.find(({ key }) => String(isScalar(key) ? key.value : key) === segment)?.value;
  return undefined;
}
