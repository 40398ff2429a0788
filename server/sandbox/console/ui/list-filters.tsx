import { useEffect, useRef, useState } from "preact/hooks";

/** Narrows a list to a status and to a text. */
export function Filters({ label, statuses, textLabel, filter, change }: FiltersProps) {
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const onInput = ({ currentTarget }: { currentTarget: HTMLFormElement }) => {
    const fields = [...new FormData(currentTarget)].map(([name, value]) => [name, String(value).trim()]);
    const filter = Object.fromEntries(fields.filter(([, value]) => value !== "")) as Filter;
    clearTimeout(timer.current);
    timer.current = setTimeout(() => change(filter), PAUSE_MS);
  };
  return (
    <search>
      <form class="row" onInput={onInput} onSubmit={(event) => event.preventDefault()}>
        <label class="inline">
          <span>{label}</span>
          <select name="status">
            <option value="">any</option>
            {statuses.map((status) => (
              <option key={status} selected={status === filter.status}>
                {status}
              </option>
            ))}
          </select>
        </label>
        <label class="inline grow">
          <span>{textLabel}</span>
          <input name="text" type="search" maxLength={255} defaultValue={filter.text ?? ""} />
        </label>
      </form>
    </search>
  );
}

/** Typing pauses this long before a list is read again. */
const PAUSE_MS = 250;

type FiltersProps = {
  /** The name of the status, such as `State`. */
  label: string;
  statuses: readonly string[];
  textLabel: string;
  filter: Filter;
  change: (filter: Filter) => void;
};

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
  const status = statuses.find((known) => known === query.get("status"));
  const text = query.get("text");
  return { ...(status && { status }), ...(text && { text }) };
}
