import { useEffect, useRef, useState } from "preact/hooks";
import { listen, type Page, type Problem, type Result, type Topic } from "./api.ts";

export type Cursor = { readonly cursor?: string };

/** A list that is loaded in parts. */
export type Paged<Item> = {
  /** Undefined until the first page is loaded. */
  readonly items: readonly Item[] | undefined;
  readonly problem: Problem | undefined;
  /** Whether the server has more than is loaded. */
  readonly hasMore: boolean;
  /** Loads the next page, unless a page is being loaded. */
  more(): void;
  /** Says which items are on the screen; after a change they are read again. */
  show(ids: readonly string[]): void;
};

type Source<Item> = {
  /** Names the list; another key starts a new list. */
  key: string;
  topics: readonly Topic[];
  idOf: (item: Item) => string;
  load: (cursor: Cursor) => Promise<Result<Page<Item>>>;
};

type Loaded<Item> = { items: Item[]; nextCursor: string | null };

/**
 * Loads a list page by page as it is scrolled, and keeps it current without loading all of it again: after a change it reads
 * the first page, where new records are, and the pages of the records that are on the screen.
 */
export function usePaged<Item>({ key, topics, idOf, load }: Source<Item>): Paged<Item> {
  const [state, setState] = useState<{ key: string; loaded?: Loaded<Item>; problem?: Problem }>({ key });
  const pager = useRef<Pager>(undefined);
  useEffect(() => {
    const own = createPager({ idOf, load }, (loaded, problem) =>
      setState({ key, ...(loaded && { loaded }), ...(problem && { problem }) }),
    );
    pager.current = own;
    const end = listen(topics, own.refresh);
    own.refresh();
    return () => {
      end();
      own.close();
    };
  }, [key]);
  const { loaded, problem } = state.key === key ? state : {};
  return {
    items: loaded?.items,
    problem,
    hasMore: loaded?.nextCursor != null,
    more: () => pager.current?.more(),
    show: (ids) => pager.current?.show(ids),
  };
}

type Pager = { refresh(): void; more(): void; show(ids: readonly string[]): void; close(): void };

/** Where a page begins, by the last record before it; undefined for the first one. */
type Start = { readonly cursor: string; readonly ids: ReadonlySet<string> };

function createPager<Item>(
  { idOf, load }: Pick<Source<Item>, "idOf" | "load">,
  changed: (loaded: Loaded<Item> | undefined, problem?: Problem) => void,
): Pager {
  let loaded: Loaded<Item> | undefined;
  let problem: Problem | undefined;
  let starts: Start[] = [];
  let shown: readonly string[] = [];
  let wanted = { refresh: false, more: false };
  let busy = false;
  let open = true;

  const fetchPage = async (cursor: Cursor): Promise<Page<Item> | undefined> => {
    const { data, error } = await load(cursor);
    if (error) problem = error as Problem;
    return data;
  };

  const refresh = async () => {
    const first = await fetchPage({});
    if (!first) return;
    const last = first.items.at(-1);
    const known = loaded && last ? loaded.items.findIndex((item) => idOf(item) === idOf(last)) : -1;
    if (!loaded || first.nextCursor === null || known === -1) {
      loaded = first;
      starts = [];
      return;
    }
    const items = [...first.items, ...loaded.items.slice(known + 1)];
    for (const { cursor, ids } of starts) {
      if (!shown.some((id) => ids.has(id))) continue;
      const page = await fetchPage({ cursor });
      const fresh = new Map(page?.items.map((item) => [idOf(item), item]));
      for (const [index, item] of items.entries()) items[index] = fresh.get(idOf(item)) ?? item;
    }
    loaded = { items, nextCursor: loaded.nextCursor };
  };

  const more = async () => {
    const cursor = loaded?.nextCursor;
    if (!loaded || cursor == null) return;
    const page = await fetchPage({ cursor });
    if (!page) return;
    starts.push({ cursor, ids: new Set(page.items.map(idOf)) });
    loaded = { items: [...loaded.items, ...page.items], nextCursor: page.nextCursor };
  };

  // One request at a time, so that no page is inserted at a position that another one has shifted meanwhile.
  const work = async () => {
    if (busy) return;
    busy = true;
    while (open && (wanted.refresh || wanted.more)) {
      const { refresh: repeated } = wanted;
      wanted = repeated ? { ...wanted, refresh: false } : { refresh: false, more: false };
      problem = undefined;
      await (repeated ? refresh() : more());
      if (open) changed(loaded, problem);
    }
    busy = false;
  };

  return {
    refresh() {
      wanted.refresh = true;
      work();
    },
    more() {
      if (loaded?.nextCursor == null) return;
      wanted.more = true;
      work();
    },
    show(ids) {
      shown = ids;
    },
    close() {
      open = false;
    },
  };
}
