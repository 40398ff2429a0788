import { readFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { parse } from "yaml";
import type { Level } from "../../../openapi/diff/change.ts";
import { readGenerated } from "../../../openapi/document/generated.ts";

type Node = { [name: string]: unknown };

/** A change of the published contract, the version step that it requires, and the location that a report must name. */
export type Change = {
  readonly name: string;
  readonly level: Level;
  readonly location: string;
  /** What the contract already has when it changes, where it has nothing that could change so. */
  readonly before?: Node;
  readonly change: Node;
};

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");

export const CHANGES: readonly Change[] = parse(read("fixtures/diff/changes.yaml"));

/** A new copy of the published contract. */
export function contract(): Node {
  return JSON.parse(readGenerated("openapi.json"));
}

/** The published contract with changes applied. Throws when one of them would have no effect. */
export function contractWith(changes: readonly Pick<Change, "change">[]): Node {
  const document = contract();
  for (const { change } of changes) lay(structuredClone(change), document);
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

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
