import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { count } from "./format.ts";
import type { Paged } from "./paged.ts";
import { Empty, ProblemText } from "./parts.tsx";

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

/** Height of a row in pixels; the styles give it to every row, whatever is in it. */
const ROW = 52;
/** Rows that are drawn above and below those on the screen. */
const AROUND = 10;
/** The next page is requested this many rows before the end of those that are loaded. */
const AHEAD = 40;

/** A list of any length: only the rows on the screen are drawn, and pages are loaded as they are reached. */
export function List<Item>({ name, paged, columns, idOf, empty }: ListProps<Item>) {
  const table = useRef<HTMLTableElement>(null);
  const items = paged.items ?? [];
  const [from, to] = useRows(table, items.length);
  const shown = items.slice(from, to);
  const below = columns.find(({ kind }) => kind === "state") ?? columns.find(({ kind }) => kind === "record");
  useEffect(() => {
    paged.show(shown.map(idOf));
    if (paged.hasMore && !paged.problem && to + AHEAD > items.length) paged.more();
  });
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
      <table ref={table} aria-label={name} aria-rowcount={paged.hasMore ? -1 : items.length + 1}>
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
          <Gap rows={from} />
          {shown.map((item, index) => (
            <tr key={idOf(item)} aria-rowindex={from + index + 2}>
              {columns.map(({ head, kind, cell }) => (
                <td key={head} class={kind}>
                  {cell(item)}
                  {kind === "main" && below && <span class="below">{below.cell(item)}</span>}
                </td>
              ))}
            </tr>
          ))}
          <Gap rows={items.length - from - shown.length} />
        </tbody>
      </table>
      <p class="quiet end">
        {count(items.length, "row")}
        {paged.hasMore ? " loaded; scroll for more" : ""}.
      </p>
    </>
  );
}

/** Empty space in place of rows that are not drawn; one cell, because on a phone some columns are not there. */
function Gap({ rows }: { rows: number }) {
  if (rows <= 0) return null;
  return (
    <tr class="gap">
      <td style={{ height: `${rows * ROW}px` }} />
    </tr>
  );
}

/** Finds the rows of a table that are on the screen or close to it. */
function useRows(
  table: { current: HTMLTableElement | null },
  length: number,
): readonly [from: number, to: number] {
  const [first, setFirst] = useState(0);
  const onScreen = Math.ceil(innerHeight / ROW);
  useEffect(() => {
    const look = () => {
      const top = table.current?.tBodies[0]?.getBoundingClientRect().top ?? 0;
      setFirst(Math.max(0, Math.floor(-top / ROW)));
    };
    look();
    addEventListener("scroll", look, { passive: true });
    addEventListener("resize", look);
    return () => {
      removeEventListener("scroll", look);
      removeEventListener("resize", look);
    };
  }, [length > 0]);
  const last = Math.min(length, first + onScreen + AROUND);
  return [Math.max(0, Math.min(first, length) - AROUND), last];
}
