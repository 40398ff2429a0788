import { createSearch, type Entry, type Search } from "../search/search.ts";

declare global {
  /** Set by search.js, which pages load when their reader begins to search. */
  var findInDocs: Search | undefined;
}

export function start(entries: readonly Entry[]): void {
  globalThis.findInDocs = createSearch(entries);
}
