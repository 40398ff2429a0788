export type ProgressStream = {
  write(text: string): unknown;
  readonly isTTY?: boolean;
  /** The width of the terminal, to which a line is cut: one that wraps could not be replaced. */
  readonly columns?: number;
};

/** One line that says how far a long command is. */
export type Progress = {
  /** Replaces the line. */
  show(text: string): void;
  /** Takes the line away, before other output. */
  clear(): void;
};

/**
 * Shows progress on a terminal. Elsewhere, such as in the log of a CI job, a line can't be replaced: there it prints one at
 * most every `logMs`, and without `logMs` none.
 */
export function createProgress(stream: ProgressStream, { logMs = Number.POSITIVE_INFINITY } = {}): Progress {
  if (stream.isTTY) {
    return {
      show: (text) => void stream.write(`\r\u001B[K${text.slice(0, (stream.columns ?? 80) - 1)}`),
      clear: () => void stream.write("\r\u001B[K"),
    };
  }
  let loggedAt = performance.now();
  const show = (text: string) => {
    if (performance.now() - loggedAt < logMs) return;
    loggedAt = performance.now();
    stream.write(`${text}\n`);
  };
  return { show, clear: () => {} };
}
