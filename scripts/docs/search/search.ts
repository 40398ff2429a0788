import MiniSearch from "minisearch";

/** A target of the search: a page, a heading in a page, or an operation of the reference. */
export type Entry = {
  readonly page: string;
  /** The heading; empty for the page itself. */
  readonly heading: string;
  readonly url: string;
  readonly text: string;
  /** Words that readers use for it, but that the text does not contain. */
  readonly words: string;
  /** The rank of this kind of page: guides come before the interface and the decisions. */
  readonly weight: number;
};

/** A page that was found, once, with its best matching heading. */
export type Hit = {
  readonly page: string;
  readonly heading: string;
  readonly url: string;
  readonly excerpt: string;
};

/** Finds entries by words; used by the page and by its tests. */
export type Search = (query: string) => Hit[];

const MOST_HITS = 12;
const COMMON = new Set([
  "a",
  "an",
  "the",
  "is",
  "are",
  "do",
  "does",
  "i",
  "how",
  "what",
  "to",
  "of",
  "for",
  "in",
  "my",
  "it",
  "when",
  "which",
  "can",
  "me",
]);

export function createSearch(entries: readonly Entry[]): Search {
  const index = new MiniSearch<Entry & { id: number }>({
    fields: ["words", "heading", "page", "text"],
    processTerm: (term) => (COMMON.has(term.toLowerCase()) ? null : stem(term.toLowerCase())),
    searchOptions: {
      boost: { words: 10, heading: 4, page: 3 },
      prefix: (term) => term.length > 2,
      fuzzy: (term) => (term.length > 5 ? 0.2 : false),
      boostDocument: (id) => entries[Number(id)]?.weight ?? 1,
    },
  });
  index.addAll(entries.map((entry, id) => ({ ...entry, id })));
  return (query) => {
    const all = index.search(query, { combineWith: "AND" });
    const found = all.length > 0 ? all : index.search(query);
    const pages = new Map<string, Hit>();
    for (const { id } of found) {
      const entry = entries[Number(id)];
      if (!entry || pages.has(entry.page)) continue;
      pages.set(entry.page, {
        page: entry.page,
        heading: entry.heading,
        url: entry.url,
        excerpt: excerptOf(entry, query),
      });
    }
    return [...pages.values()].slice(0, MOST_HITS);
  };
}

/** Reduces plurals and regular verb forms to one stem. */
function stem(term: string): string {
  if (term.length < 5 || /[\d_.]/.test(term)) return term;
  return term.replace(/(?:ing|ies|es|ed|s|y|e)$/, "");
}

const EXCERPT = 110;

/** Some words around the first match. */
function excerptOf({ text }: Entry, query: string): string {
  const words = query.toLowerCase().split(/\s+/);
  const positions = words.map((word) => text.toLowerCase().indexOf(word)).filter((location) => location >= 0);
  const start = positions.length === 0 ? 0 : Math.max(0, Math.min(...positions) - EXCERPT / 3);
  const from = start === 0 ? 0 : text.indexOf(" ", start) + 1;
  const excerpt = text.slice(from, from + EXCERPT);
  return `${from > 0 ? "…" : ""}${excerpt.trim()}${from + EXCERPT < text.length ? "…" : ""}`;
}
