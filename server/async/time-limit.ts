/** How long somebody waits for a piece of work. */
export interface TimeLimit {
  /** Aborted when nobody waits any more: then nothing further should be begun. */
  readonly signal: AbortSignal;
  /** Milliseconds until then; negative afterwards. */
  remainingMs(): number;
}

/** No deadline: the caller waits until the work ends. */
export const noTimeLimit: TimeLimit = {
  signal: new AbortController().signal,
  remainingMs: () => Number.POSITIVE_INFINITY,
};
