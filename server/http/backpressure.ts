import { unavailable } from "./errors.ts";

/** Runs one piece of work, or throws `UNAVAILABLE` at once. */
export type Admit = <Result>(work: () => Promise<Result>) => Promise<Result>;

/**
 * Admits so many calls to the store at a time. What is beyond would only wait, and hold memory: it is told to come again,
 * which costs next to nothing, so that a server under too much load still does as much as it can.
 */
export function admitAtMost(limit: number): Admit {
  let running = 0;
  return async (work) => {
    if (running >= limit) throw unavailable();
    running += 1;
    try {
      return await work();
    } finally {
      running -= 1;
    }
  };
}
