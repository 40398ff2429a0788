import type { Change } from "../diff/change.ts";
import { entriesOf, type Json } from "./json.ts";

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

/** Where the reference shows what a change is about. */
export type Place = {
  readonly operationId: string;
  readonly tag: string;
  readonly field: string | undefined;
};

/**
 * The first operation that a change has an effect on and that the revision still has, and the field, when it is one of the
 * body of a request. A change of what no operation uses has no place.
 */
export function placeOf(change: Change, { revision }: Pair): Place | undefined {
  const { uses, pointer } = change;
  const address = pointer.split("/")[2]?.replaceAll("~1", "/");
  for (const [path, item] of [...entriesOf(revision.paths), ...entriesOf(revision.webhooks)]) {
    for (const [method, part] of entriesOf(item)) {
      const names = [`${method.toUpperCase()} ${path}`, `event ${path}`];
      if (path !== address && !uses.some((use) => names.some((name) => use.includes(name)))) continue;
      const { operationId, tags } = part as { operationId: string; tags: string[] };
      return { operationId, tag: tags[0] ?? "", field: requestFieldOf(change) };
    }
  }
  return undefined;
}

/** The address of a place on the page. */
export function routeOf({ operationId, tag, field }: Place): string {
  const route = `${tag}/${operationId}`.toLowerCase();
  return `#/${route}${field === undefined ? "" : `#${route}/t=request&path=${field}`}`;
}

/** The changes as a table in Markdown, the most severe first; `link` makes the address of a place. */
export function tableOf(changes: readonly Change[], pair: Pair, link: (place: Place) => string): string {
  const rows = changes.map((change) => {
    const place = placeOf(change, pair);
    const name = place === undefined ? `\`${change.place}\`` : `[${change.place}](${link(place)})`;
    const found = Object.entries(change.ratings).map(([by, level]) => `${by}: ${level}`);
    const cells = [
      `**${change.level}**`,
      kindOf(change, pair),
      name,
      change.what.join("; "),
      change.uses.join(", "),
      found.join(", "),
    ];
    return `| ${cells.map(toCell).join(" | ")} |`;
  });
  const head = ["severity", "", "place in the reference", "what", "has an effect on", "rated by"];
  return [`| ${head.join(" | ")} |`, `|${head.map(() => "---").join("|")}|`, ...rows].join("\n");
}

function toCell(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("\n", " ");
}

/** The field as the page's own addresses have it. */
function requestFieldOf({ pointer, uses }: Change): string | undefined {
  const [, field] =
    /^\/components\/schemas\/(?:Refund|Subscription)Request\/properties\/(\w+)/.exec(pointer) ?? [];
  return uses.some((use) => use.startsWith("request")) ? field?.toLowerCase() : undefined;
}
