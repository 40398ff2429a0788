/** Changes of the contract, from test/fixtures/diff/changes.yaml, with the version step that each requires. */
import { readFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { parse } from "yaml";
import type { Level } from "../../openapi/diff/severity.ts";
import { readGenerated } from "../../openapi/document/read-generated.ts";

type Node = { [name: string]: unknown };
/** Values by pointer: null takes one out, `$add` and `$drop` change a list. */
type Edits = Readonly<Record<string, unknown>>;

/** The version step that a change of the published contract requires, the location that a report must name, and the change. */
export const CHANGES: readonly [
  level: Level,
  location: string,
  name: string,
  change: Edits,
  before?: Edits,
][] = parse(readFileSync(new URL("../fixtures/diff/changes.yaml", import.meta.url), "utf8"));

const CONTRACT = readGenerated("openapi.json");

/** A new copy of the published contract with changes applied. Throws when one of them would have no effect. */
export function contractWith(...changes: readonly Edits[]): Node {
  const document = JSON.parse(CONTRACT);
  for (const [pointer, value] of changes.flatMap((edits) => Object.entries(edits))) {
    const path = pointer.startsWith("/") ? pointer.slice(1) : `components/schemas/${pointer}`;
    const names = path.split("/").map((name) => name.replaceAll("~1", "/").replaceAll("~0", "~"));
    const nested = names.reduceRight<unknown>((part, name) => ({ [name]: part }), structuredClone(value));
    lay(nested as Node, document);
  }
  return document;
}

function lay(change: Node, target: Node): void {
  for (const [name, value] of Object.entries(change)) {
    const current = target[name];
    if (value === null) {
      if (current === undefined) throw new Error(`there is no ${name} to take out`);
      delete target[name];
    } else if (isNode(value) && Array.isArray(current)) target[name] = listWith(value, current);
    else if (isNode(value) && isNode(current)) lay(value, current);
    else target[name] = value;
  }
}

function listWith({ $add, $drop }: Node, list: readonly unknown[]): unknown[] {
  const kept = list.filter((item) => !isDeepStrictEqual(item, $drop));
  if ($drop !== undefined && kept.length === list.length)
    throw new Error(`there is no ${JSON.stringify($drop)}`);
  return $add === undefined ? kept : [...kept, $add];
}

const isNode = (value: unknown): value is Node =>
  typeof value === "object" && value !== null && !Array.isArray(value);
