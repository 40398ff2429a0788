import { placeName } from "../place-name.ts";
import type { Kind } from "./marks.ts";

/** An element of the contract, and a clause or decision that it says it comes from. */
export type Place = { readonly kind: Kind; readonly id: string; readonly place: string };

type Node = { readonly [name: string]: unknown };

/** Every source that the bundle names, in its order. One that two kinds of names lead to stands once. */
export function readPlaces(document: unknown): Place[] {
  const places: Place[] = [];
  walk(document, [], (path, sources) => {
    for (const { kind, clause, decision } of sources) {
      const [named, id] =
        kind === "specified" ? (["clause", clause] as const) : (["decision", decision] as const);
      places.push({ kind: named, id: String(id), place: placeName(path) });
    }
  });
  const keys = places.map(({ kind, id, place }) => `${kind} ${id} ${place}`);
  return places.filter((_, index) => keys.indexOf(keys[index] ?? "") === index);
}

type Visit = (path: readonly string[], sources: readonly Node[]) => void;

function walk(node: unknown, path: readonly string[], visit: Visit): void {
  if (typeof node !== "object" || node === null) return;
  for (const [name, child] of Object.entries(node)) {
    if (name === "x-source" || (name === "source" && path.includes("x-transitions"))) visit(path, child);
    else if (name === "x-enum-source") {
      for (const [value, sources] of Object.entries(child)) visit([...path, `=${value}`], sources as Node[]);
    } else if (name !== "examples") walk(child, [...path, name], visit);
  }
}
