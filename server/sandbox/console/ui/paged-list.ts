import { useEffect, useRef, useState } from "preact/hooks";
import { listen, type Page, type Problem, type Result, type Topic } from "./sandbox-api.ts";

/** Loads a list page by page; after a change it loads all of these pages again. */
export function usePaged<Item>({ key, topics, load }: Source<Item>): Paged<Item> {
  const [state, setState] = useState<State<Item>>({ key });
  const more = useRef(() => {});
  useEffect(() => {
    let pages = 1;
    let open = true;
    let busy = false;
    let again = false;
    const read = async () => {
      const loaded: Page<Item> = { items: [], nextCursor: null };
      for (let page = 0; page < pages; page += 1) {
        const { data, error } = await load(loaded.nextCursor === null ? {} : { cursor: loaded.nextCursor });
        if (!open) return;
        if (!data)
          return setState((before) => ({
            ...(before.key === key ? before : { key }),
            problem: error as Problem,
          }));
        loaded.items.push(...data.items);
        loaded.nextCursor = data.nextCursor;
        if (data.nextCursor === null) break;
      }
      setState({ key, loaded });
    };
    const run = async () => {
      again = true;
      if (busy) return;
      busy = true;
      while (open && again) {
        again = false;
        await read();
      }
      busy = false;
    };
    more.current = () => {
      pages += 1;
      run();
    };
    const end = listen(topics, run);
    run();
    return () => {
      open = false;
      end();
    };
  }, [key]);
  const { loaded, problem } = state.key === key ? state : {};
  return { items: loaded?.items, problem, hasMore: loaded?.nextCursor != null, more: () => more.current() };
}

export type Cursor = { readonly cursor?: string };

/** A list that is loaded in parts. */
export type Paged<Item> = {
  /** Undefined until the first page is loaded. */
  readonly items: readonly Item[] | undefined;
  readonly problem: Problem | undefined;
  /** Whether the server has more than is loaded. */
  readonly hasMore: boolean;
  /** Loads one page more. */
  more(): void;
};

type Source<Item> = {
  /** Names the list; another key starts a new list. */
  key: string;
  topics: readonly Topic[];
  load: (cursor: Cursor) => Promise<Result<Page<Item>>>;
};

type State<Item> = { key: string; loaded?: Page<Item>; problem?: Problem };
