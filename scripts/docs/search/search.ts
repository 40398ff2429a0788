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

export type Found = {
  /** The best first. */
  readonly hits: readonly Hit[];
  /** Words of the query that nothing contains; the hits are then only the nearest. */
  readonly missing: readonly string[];
};

/** Finds entries by words; used by the page and by its tests. */
export type Search = (query: string) => Found;

const MOST_HITS = 12;
/** Of the rank of the best hit; what has less shares a common word with the query, and nothing else. */
const LEAST_SHARE = 0.02;
/** The nearest page for a word that no page has. */
const GLOSSARY = "glossary.html";
const COMMON = new Set(
  (
    "a an and any are at be by can do does each for from get give have how i in is it me my of on or our own " +
    "so that the there this to we what when where which who why will with you your"
  ).split(" "),
);

/** Two digits with a point between them are one word, so that clause 7.4 is not found by 4.7. */
const WORD = /\d+(?:\.\d+)+|[\p{L}\p{M}\p{N}]+/gu;

export function createSearch(entries: readonly Entry[]): Search {
  const index = new MiniSearch<Entry & { id: number }>({
    fields: ["words", "heading", "page", "text"],
    tokenize: (text) => text.match(WORD) ?? [],
    processTerm: (term) => (COMMON.has(term.toLowerCase()) ? null : stem(term.toLowerCase())),
    searchOptions: {
      boost: { words: 10, heading: 4, page: 3 },
      prefix: (term) => term.length > 2 && !/\d/.test(term),
      fuzzy: (term) => (term.length > 5 ? 0.2 : false),
      boostDocument: (id) => entries[Number(id)]?.weight ?? 1,
    },
  });
  index.addAll(entries.map((entry, id) => ({ ...entry, id })));
  const glossary = entries.findIndex(({ url }) => url === GLOSSARY);

  return (query) => {
    const found = index.search(query);
    const words = (query.match(WORD) ?? []).filter((word) => !COMMON.has(word.toLowerCase()));
    const known = new Set(found.flatMap(({ queryTerms }) => queryTerms));
    // An entry with all words of a question comes before one that repeats the rarest of them.
    const ranked = found
      .map(({ id, score, queryTerms }) => ({ id, rank: score * queryTerms.length ** 3 }))
      .sort((a, b) => b.rank - a.rank)
      .filter(({ rank }, _, [best]) => rank > LEAST_SHARE * (best?.rank ?? 0));
    return {
      hits: toHits(entries, ranked.length > 0 || words.length === 0 ? ranked : [{ id: glossary }], query),
      missing: words.filter((word) => !known.has(stem(word.toLowerCase()))),
    };
  };
}

/** One hit for each page. */
function toHits(entries: readonly Entry[], ranked: readonly { id: number }[], query: string): Hit[] {
  const pages = new Map<string, Hit>();
  for (const { id } of ranked) {
    const entry = entries[id];
    if (!entry || pages.has(entry.page)) continue;
    const { page, heading, url } = entry;
    pages.set(page, { page, heading, url, excerpt: excerptOf(entry, query) });
  }
  return [...pages.values()].slice(0, MOST_HITS);
}

/** Reduces plurals and regular verb forms to one stem. */
function stem(term: string): string {
  if (term.length < 5 || /[\d_.]|(?:us|ss)$/.test(term)) return term;
  return term.replace(/(?<=us|ss|x|ch|sh)es$|(?:ing|ies|es|ed|s|y|e)$/, "");
}

/** In characters: two lines of the dialog. */
const EXCERPT = 150;

/** Some words around the first match. */
function excerptOf({ text }: Entry, query: string): string {
  const words = query.toLowerCase().split(/\s+/);
  const positions = words.map((word) => text.toLowerCase().indexOf(word)).filter((location) => location >= 0);
  const first = Math.min(...positions);
  // A text begins with its point, so only a match beyond the excerpt moves it.
  const from = first < EXCERPT || positions.length === 0 ? 0 : text.indexOf(" ", first - EXCERPT / 3) + 1;
  const isCut = from + EXCERPT < text.length;
  const excerpt = text.slice(from, from + EXCERPT).replace(isCut ? /\s+\S*$/ : "", "");
  return `${from > 0 ? "…" : ""}${excerpt.trim()}${isCut ? "…" : ""}`;
}
