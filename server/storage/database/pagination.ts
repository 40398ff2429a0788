/** A page of a list: at most `limit` records, after those of the page that returned the cursor. */
export type PageOf = {
  readonly merchant: string;
  /** From 1. */
  readonly limit: number;
  readonly cursor?: string | undefined;
};

export type Page<Item> = {
  readonly items: readonly Item[];
  /** Where the next page begins; null on the last one. */
  readonly nextCursor: string | null;
};

/** @param rows in the order of the list, one more than the limit where there is a next page */
export function toPage<Item>(rows: readonly Item[], limit: number, keyOf: (row: Item) => string): Page<Item> {
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  const nextCursor = last && rows.length > limit ? Buffer.from(keyOf(last)).toString("base64url") : null;
  return { items, nextCursor };
}

/** The id after which a page begins; null for the first page. */
export function fromCursor(cursor: string | undefined, prefix: string): string | null | "invalid-cursor" {
  if (cursor === undefined) return null;
  const id = Buffer.from(cursor, "base64url").toString();
  return id.startsWith(prefix) && /^[0-9a-f-]{36}$/.test(id.slice(prefix.length)) ? id : "invalid-cursor";
}
