import { locationName } from "../../openapi/document/location-name.ts";
import { isNode, walk } from "../../openapi/document/node.ts";
import type { Kind } from "./marks.ts";

/** An element of the contract, and a clause or decision that is its source. */
export type SourcedElement = { readonly kind: Kind; readonly id: string; readonly element: string };

/** Reads every source in the bundle, in its order. An element that is reachable in two ways is listed once. */
export function readSourcedElements(document: unknown): SourcedElement[] {
  const found = Array.from(walk(document, ["examples"])).flatMap(({ path, part }) => {
    const [name, ...around] = path.toReversed();
    const holder = around.toReversed();
    if (name === "x-source" || (name === "source" && path.includes("x-transitions")))
      return toElements(holder, part);
    if (name !== "x-enum-source" || !isNode(part)) return [];
    return Object.entries(part).flatMap(([value, sources]) => toElements([...holder, `=${value}`], sources));
  });
  const keys = found.map(({ kind, id, element }) => `${kind} ${id} ${element}`);
  return found.filter((_, index) => keys.indexOf(keys[index] ?? "") === index);
}

function toElements(path: readonly string[], sources: unknown): SourcedElement[] {
  if (!Array.isArray(sources)) return [];
  return sources.map(({ kind, clause, decision }): SourcedElement => {
    const element = locationName(path);
    return kind === "specified"
      ? { kind: "clause", id: String(clause), element }
      : { kind: "decision", id: String(decision), element };
  });
}
