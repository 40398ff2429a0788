import type { Change } from "../diff/change.ts";
import { entriesOf, type Json } from "../docs/json.ts";

/** What became of the part that a change is about. */
export type Kind = "added" | "changed" | "removed";

/** The two contracts that are compared. */
export type Pair = { readonly base: Json; readonly revision: Json };

export function kindOf({ pointer }: Change, { base, revision }: Pair): Kind {
  const [before, after] = [has(base, pointer), has(revision, pointer)];
  if (before === after) return "changed";
  return after ? "added" : "removed";
}

function has(document: Json, pointer: string): boolean {
  let part: unknown = document;
  for (const name of pointer.split("/").slice(1)) {
    const key = name.replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof part !== "object" || part === null || !(key in part)) return false;
    part = (part as Json)[key];
  }
  return true;
}

/**
 * Where the reference shows the part that a change is about, after `#/`: at the first operation that the change has an
 * effect on and that the revision still has, and there at the field, when it is one of the body of a request. A change of
 * what no operation uses has no place.
 */
export function placeOf(change: Change, { revision }: Pair): string | undefined {
  const { uses, pointer } = change;
  const address = pointer.split("/")[2]?.replaceAll("~1", "/");
  for (const [path, item] of [...entriesOf(revision.paths), ...entriesOf(revision.webhooks)]) {
    for (const [method, part] of entriesOf(item)) {
      const names = [`${method.toUpperCase()} ${path}`, `event ${path}`];
      if (path !== address && !uses.some((use) => names.some((name) => use.includes(name)))) continue;
      const route = `${(part.tags as string[])[0]}/${part.operationId}`.toLowerCase();
      const field = requestFieldOf(change);
      return field === undefined ? route : `${route}#${route}/t=request&path=${field}`;
    }
  }
  return undefined;
}

/** The field as the page's own addresses have it. */
function requestFieldOf({ pointer, uses }: Change): string | undefined {
  const [, field] =
    /^\/components\/schemas\/(?:Refund|Subscription)Request\/properties\/(\w+)/.exec(pointer) ?? [];
  return uses.some((use) => use.startsWith("request")) ? field?.toLowerCase() : undefined;
}
