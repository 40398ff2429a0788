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
      places.push({ kind: named, id: String(id), place: nameOf(path) });
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

/** What a reader calls the element at a path: `RefundRequest.amount`, `POST /v1/refunds`, `event refund.pending`. */
function nameOf(path: readonly string[]): string {
  const [first = "", second = "", third = ""] = path;
  if (first === "paths") return `${third.toUpperCase()} ${second}${partsOf(path.slice(3))}`;
  if (first === "webhooks") return `event ${second}${partsOf(path.slice(3))}`;
  const kind = { responses: "response ", headers: "header ", parameters: "header " }[second] ?? "";
  return `${kind}${third}${partsOf(path.slice(3))}`;
}

function partsOf(path: readonly string[]): string {
  let name = "";
  for (const [index, part] of path.entries()) {
    if (path[index - 1] === "properties") name += `.${part}`;
    else if (part === "items") name += "[]";
    else if (part === "requestBody" && index === path.length - 1) name += " body";
    else if (part.startsWith("=")) name += ` ${part.slice(1)}`;
    else if (part === "x-transitions") name += ` move ${Number(path[index + 1]) + 1}`;
  }
  return name;
}
