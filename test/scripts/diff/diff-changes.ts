import { readFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { parse } from "yaml";
import type { Level } from "../../../scripts/diff/change.ts";

type Node = { [name: string]: unknown };

/** A change of the published contract, the version step that it requires, and the location that a report must name. */
export type Change = {
  readonly name: string;
  readonly level: Level;
  readonly location: string;
  readonly alone?: true;
  readonly change: Node;
};

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");

export const CHANGES: readonly Change[] = parse(read("fixtures/diff/changes.yaml"));

/** A new copy of the published contract. */
export function contract(): Node {
  return JSON.parse(read("../openapi/generated/openapi.json"));
}

/** The published contract with changes applied. Throws when one of them would have no effect. */
export function contractWith(changes: readonly Pick<Change, "change">[]): Node {
  const document = contract();
  for (const { change } of changes) lay(change, document);
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

/**
 * Distributes the changes over as few documents as possible, so that few have to be compared: two changes that touch the
 * same part, or are reported at the same location, go into different documents.
 */
export function inBatches(changes: readonly Change[]): Change[][] {
  const batches: Change[][] = [];
  for (const change of changes) {
    const batch = batches.find((others) => others.every((other) => !clash(change, other)));
    if (batch) batch.push(change);
    else batches.push([change]);
  }
  return batches;
}

function clash(one: Change, other: Change): boolean {
  const [ours, theirs] = [touched(one.change), touched(other.change)];
  const within = (a: string, b: string) => `${a}/`.startsWith(`${b}/`);
  return (
    one.location === other.location || ours.some((a) => theirs.some((b) => within(a, b) || within(b, a)))
  );
}

function touched(change: Node, at = ""): string[] {
  return Object.entries(change).flatMap(([name, value]) => {
    const pointer = `${at}/${name.replaceAll("/", "~1")}`;
    const isHolder = isNode(value) && !("$add" in value || "$drop" in value);
    return isHolder ? touched(value, pointer) : [pointer];
  });
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
