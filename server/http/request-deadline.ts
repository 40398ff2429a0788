import { unavailable } from "../contract/problem.ts";
import { noTimeLimit, type TimeLimit } from "../domain/time-limit.ts";
import type { HttpResponse } from "./request-locals.ts";

/**
 * Bounds how long a request waits, so that every request gets its response in time. Work that is in progress at the deadline
 * is not undone: as after every 503, it may still succeed, and a repeated request shows whether it did.
 * @param limitMs milliseconds that all parts of a request may wait together, not counting the reading of its body
 */
export function createDeadline(limitMs: number): Deadline {
  return async ({ locals }, work) => {
    const startedAt = performance.now();
    const { waitedMs = 0 } = locals;
    const late = () => unavailable(new Error(`not done in ${limitMs} ms`));
    if (waitedMs >= limitMs) throw late();
    const controller = new AbortController();
    const leftMs = limitMs - waitedMs;
    const remainingMs = () => startedAt + leftMs - performance.now();
    let timer: NodeJS.Timeout | undefined;
    try {
      return await new Promise((resolve, reject) => {
        timer = setTimeout(() => {
          controller.abort(late());
          reject(controller.signal.reason);
        }, leftMs);
        work({ signal: controller.signal, remainingMs }).then(resolve, reject);
      });
    } finally {
      clearTimeout(timer);
      locals.waitedMs = waitedMs + performance.now() - startedAt;
    }
  };
}

/** Runs a part of a request that waits. Throws `UNAVAILABLE` when all such parts take too long in total. */
export type Deadline = <Result>(
  response: HttpResponse,
  work: (timeLimit: TimeLimit) => Promise<Result>,
) => Promise<Result>;

/** Sets no limit on how long a request waits. */
export const noDeadline: Deadline = (_response, work) => work(noTimeLimit);
