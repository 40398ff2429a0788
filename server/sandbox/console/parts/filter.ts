import { useState } from "preact/hooks";

/** What a list is narrowed to; a member is left out for everything. */
export type Filter<Status extends string = string> = { readonly status?: Status; readonly text?: string };

/** The filter of the page's address, such as `#/refunds?status=PENDING`, so that a link leads to the same records. */
export function useFilter<Status extends string>(
  statuses: readonly Status[],
): [filter: Filter<Status>, change: (filter: Filter) => void] {
  const [filter, setFilter] = useState(() => readFilter(statuses));
  const change = (next: Filter) => {
    const [path] = location.hash.split("?");
    history.replaceState(null, "", `${path}${toQuery(next)}`);
    setFilter(readFilter(statuses));
  };
  return [filter, change];
}

/** The query of a page's address; empty when everything is shown. */
export function toQuery(filter: Filter): string {
  const query = new URLSearchParams(filter);
  return query.size === 0 ? "" : `?${query}`;
}

function readFilter<Status extends string>(statuses: readonly Status[]): Filter<Status> {
  const query = new URLSearchParams(location.hash.split("?")[1]);
  const status = statuses.find((one) => one === query.get("status"));
  const text = query.get("text");
  return { ...(status && { status }), ...(text && { text }) };
}
