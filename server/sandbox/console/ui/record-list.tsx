import type { ComponentChildren } from "preact";
import { Empty, ProblemText } from "./elements.tsx";
import { count } from "./format-values.ts";
import type { Paged } from "./paged-list.ts";

/** A list, with a button that loads more of it. */
export function List<Item>({ name, paged, columns, idOf, empty }: ListProps<Item>) {
  const items = paged.items ?? [];
  const below = columns.find(({ kind }) => kind === "state") ?? columns.find(({ kind }) => kind === "record");
  if (items.length === 0) {
    return (
      <>
        <ProblemText problem={paged.problem} />
        {paged.items && <Empty>{empty}</Empty>}
      </>
    );
  }
  return (
    <>
      <ProblemText problem={paged.problem} />
      <table aria-label={name}>
        <thead>
          <tr>
            {columns.map(({ head, kind }) => (
              <th key={head} scope="col" class={kind}>
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {items.map((item) => (
            <tr key={idOf(item)}>
              {columns.map(({ head, kind, cell }) => (
                <td key={head} class={kind}>
                  {cell(item)}
                  {kind === "main" && below && <span class="below">{below.cell(item)}</span>}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      <p class="quiet end">
        {count(items.length, "row")}
        {paged.hasMore ? " loaded" : ""}.
      </p>
      {paged.hasMore && (
        <button type="button" onClick={paged.more}>
          Show more
        </button>
      )}
    </>
  );
}

type Column<Item> = {
  head: string;
  /**
   * Sets the width. `main` takes the remaining width; `number` and `money` are aligned to the right. On a phone the `state`,
   * or else the `record`, appears below `main`, and `reason`, `time` and a `short` column next to a state are hidden.
   */
  kind: "main" | "state" | "short" | "reason" | "record" | "number" | "money" | "time";
  cell: (item: Item) => ComponentChildren;
};

type ListProps<Item> = {
  name: string;
  paged: Paged<Item>;
  columns: readonly Column<Item>[];
  idOf: (item: Item) => string;
  /** The text for an empty list. */
  empty: ComponentChildren;
};
