import { setTimeout } from "node:timers/promises";
import { isConflict } from "./unavailable.ts";

const MAX_CONFLICTS = 4;
/** Longest wait before the first retry, in milliseconds; it doubles with each later one. */
const CONFLICT_PAUSE_MS = 10;

/** Repeats work that the database has rolled back because of concurrent transactions, as in a deadlock. */
export async function repeatAfterConflicts<Result>(work: () => Promise<Result>): Promise<Result> {
  for (let conflicts = 1; ; conflicts += 1) {
    try {
      return await work();
    } catch (error) {
      if (!isConflict(error) || conflicts === MAX_CONFLICTS) throw error;
      await setTimeout(Math.random() * CONFLICT_PAUSE_MS * 2 ** conflicts);
    }
  }
}
