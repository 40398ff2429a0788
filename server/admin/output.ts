/** Where a command says what it does: results to one stream, the rest to another. */
export interface Output {
  /** A line of the result. */
  print(line: string): void;
  /** A line for the operator beside it. */
  complain(line: string): void;
  /** Whether what is said beside the result is read as it comes, on a terminal. */
  interactive: boolean;
  /** Text beside the result, as it is. */
  write(text: string): void;
}

const TERMINAL_INTERVAL_MS = 500;
const LOG_INTERVAL_MS = 10_000;

/** Says how far a command is: on a terminal by a line that changes, elsewhere by a line now and then. */
export function startProgress(output: Output, describe: () => string): { stop(): void } {
  const { interactive } = output;
  const startedMs = performance.now();
  const tell = () => {
    const text = `${describe()}, ${Math.round((performance.now() - startedMs) / 1000)} s`;
    output.write(interactive ? `\r\x1b[K${text}` : `${text}\n`);
  };
  const timer = setInterval(tell, interactive ? TERMINAL_INTERVAL_MS : LOG_INTERVAL_MS);
  return {
    stop() {
      clearInterval(timer);
      if (interactive) output.write("\r\x1b[K");
    },
  };
}

/** A number with its noun. */
export function count(number: number, noun: string): string {
  const plural = noun.endsWith("y") ? `${noun.slice(0, -1)}ies` : `${noun}s`;
  return `${number} ${number === 1 ? noun : plural}`;
}

type Cell = string | number | null;

/** Rows under their headings, in columns as wide as what is in them. */
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
