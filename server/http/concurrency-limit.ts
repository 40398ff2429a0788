import { unavailable } from "../contract/problem.ts";

/** Bounds how many requests use the store at a time. */
export type ConcurrencyLimit = {
  /** Runs a piece of work. Throws `UNAVAILABLE` at once when too many are running. */
  run<Result>(work: () => Promise<Result>): Promise<Result>;
  /** Whether the next piece of work would be refused now. Only `overload.ts` asks: before a request costs anything. */
  isFull(): boolean;
};

/** Excess requests get 503 with `Retry-After`, because queuing them would only use memory. */
export function createConcurrencyLimit(limit: number): ConcurrencyLimit {
  let running = 0;
  const isFull = () => running >= limit;
  return {
    isFull,
    async run(work) {
      if (isFull()) throw unavailable();
      running += 1;
      try {
        return await work();
      } finally {
        running -= 1;
      }
    },
  };
}
