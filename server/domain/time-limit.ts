/** How long the caller of a piece of work waits for it. */
export type TimeLimit = {
  /** Aborted when the caller no longer waits: then no further step should begin. */
  readonly signal: AbortSignal;
  /** Milliseconds until then; negative afterwards. */
  remainingMs(): number;
};

/** No deadline: the caller waits until the work ends. */
export const noTimeLimit: TimeLimit = {
  signal: new AbortController().signal,
  remainingMs: () => Number.POSITIVE_INFINITY,
};
