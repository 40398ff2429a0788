import type { Response } from "express";
import { inTime } from "../time-limit.ts";
import { unavailable } from "./errors.ts";

/** Runs a part of a call that waits for others; throws `UNAVAILABLE` when the parts of a call take too long together. */
export type Patience = <Result>(response: Response, work: () => Promise<Result>) => Promise<Result>;

/**
 * So that every call is answered in time, whatever it waits for. What is given up is not undone: it may still succeed, as
 * after every 503, and a repeat tells.
 *
 * @param limitMs what a call may wait for in all, its own body not counted
 */
export function createPatience(limitMs: number): Patience {
  return async ({ locals }, work) => {
    const startedAt = performance.now();
    const waitedMs: number = locals.waitedMs ?? 0;
    const late = () => unavailable(new Error(`not done in ${limitMs} ms`));
    if (waitedMs >= limitMs) throw late();
    try {
      return await inTime(work(), limitMs - waitedMs, late);
    } finally {
      locals.waitedMs = waitedMs + performance.now() - startedAt;
    }
  };
}

/** As long as it takes. */
export const endlessPatience: Patience = (_response, work) => work();
