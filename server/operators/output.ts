/** Where a command writes: results to one stream, progress and errors to another. */
export type Output = {
  /** Writes a line of the result. */
  print(line: string): void;
  /** Writes a line for the operator that is not part of the result. */
  complain(line: string): void;
  /** Resolves when what was printed has been taken, so that a long result does not wait in memory. */
  flushed(): Promise<void>;
  /** Writes a line of the log, which is JSON, to the other stream. */
  log(line: string): void;
  /** Whether the other stream is a terminal. */
  interactive: boolean;
  /** Writes text to the other stream, unchanged. */
  write(text: string): void;
};

const TERMINAL_INTERVAL_MS = 500;
const LOG_INTERVAL_MS = 10_000;

/** Reports progress every half second on one line of a terminal, or every ten seconds on a new line elsewhere. */
export function startProgress(output: Output, describe: () => string): { stop(): void } {
  const { interactive } = output;
  const startedMs = performance.now();
  const report = () => {
    const text = `${describe()}, ${Math.round((performance.now() - startedMs) / 1000)} s`;
    output.write(interactive ? `\r\x1b[K${text}` : `${text}\n`);
  };
  const timer = setInterval(report, interactive ? TERMINAL_INTERVAL_MS : LOG_INTERVAL_MS);
  return {
    stop() {
      clearInterval(timer);
      if (interactive) output.write("\r\x1b[K");
    },
  };
}

/** Such as `1 line` or `2 deliveries`. */
export function count(number: number, noun: string): string {
  const plural = noun.endsWith("y") ? `${noun.slice(0, -1)}ies` : `${noun}s`;
  return `${number} ${number === 1 ? noun : plural}`;
}

/** Tells the operator that a merchant may be mistyped: one without payments is no error, as it may be new. */
export function complainOfUnknown(merchant: string, output: Output): void {
  output.complain(`${merchant} has no payments: is that the name of the merchant?`);
}

export type Cell = string | number | null;

/** Aligns rows in columns under their headings; a null cell is shown as `-`. */
export function toTable(headings: readonly string[], rows: readonly (readonly Cell[])[]): string[] {
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
