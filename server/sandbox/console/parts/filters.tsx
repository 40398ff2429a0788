import { useEffect, useRef } from "preact/hooks";
import type { Filter } from "./filter.ts";

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

/** Narrows a list to a status and to a text. */
export function Filters({ label, statuses, textLabel, filter, change }: FiltersProps) {
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const onInput = ({ currentTarget }: { currentTarget: HTMLFormElement }) => {
    const given = [...new FormData(currentTarget)].map(([name, value]) => [name, String(value).trim()]);
    const filter = Object.fromEntries(given.filter(([, value]) => value !== "")) as Filter;
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
