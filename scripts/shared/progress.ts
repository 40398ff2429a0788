/** A progress line on a terminal, such as "120 of 300 mutants". */
export type ProgressStream = {
  write(text: string): unknown;
  readonly isTTY?: boolean;
  /** The width of the terminal. Longer lines are truncated, because a line that wraps could not be replaced. */
  readonly columns?: number;
};

/** One line that shows the progress of a long command. */
export type Progress = {
  /** Replaces the line. */
  show(text: string): void;
  /** Removes the line, before other output. */
  clear(): void;
};

/** Shows progress on a terminal. Elsewhere, such as in the log of a CI job, a line can't be replaced, and there is none. */
export function createProgress(stream: ProgressStream): Progress {
  if (!stream.isTTY) return { show: () => {}, clear: () => {} };
  return {
    show: (text) => void stream.write(`\r\u001B[K${text.slice(0, (stream.columns ?? 80) - 1)}`),
    clear: () => void stream.write("\r\u001B[K"),
  };
}
