/** Where a command writes: results to one stream, errors to another. */
export type Output = {
  /** Writes a line of the result. */
  print(line: string): void;
  /** Writes a line for the operator that is not part of the result. */
  complain(line: string): void;
  /** Resolves when what was printed has been taken, so that a long result does not wait in memory. */
  flushed(): Promise<void>;
  /** Writes a line of the log, which is JSON, to the other stream. */
  log(line: string): void;
};

/** Such as `1 line` or `2 deliveries`. */
export function count(number: number, noun: string): string {
  const plural = noun.endsWith("y") ? `${noun.slice(0, -1)}ies` : `${noun}s`;
  return `${number} ${number === 1 ? noun : plural}`;
}

export type Cell = string | number | null;

/** Aligns rows in columns under their headings; a null cell is shown as `-`. */
function toTable(headings: readonly string[], rows: readonly (readonly Cell[])[]): string[] {
  const lines = [headings, ...rows].map((cells) => cells.map((cell) => `${cell ?? "-"}`));
  const widths = headings.map((_, column) => Math.max(...lines.map((cells) => cells[column]?.length ?? 0)));
  return lines.map((cells) =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
}

/** Prints rows as a table, or that there are none. */
export function printTable(
  output: Output,
  headings: readonly string[],
  rows: readonly (readonly Cell[])[],
): void {
  if (rows.length === 0) output.print("None.");
  else for (const line of toTable(headings, rows)) output.print(line);
}

/** JSON without control characters: the output would replace them, because they could change the operator's terminal. */
export function toJsonLine(value: object): string {
  return JSON.stringify(value).replaceAll(
    /\p{Cc}/gu,
    (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
