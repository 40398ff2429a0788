/** How often a call is repeated that a service does not take because there were too many. */
const MAX_WAITS = 10;
const MAX_WAIT_SECONDS = 30;

/** A service that takes no calls any more, however long they wait. */
export class LimitedError extends Error {}

/** Repeats a call for as long as it is answered 429, waiting as `Retry-After` says. Rejects with a `LimitedError`. */
export async function untilTaken<Answer extends { status: number; headers: Headers }>(
  send: () => Promise<Answer>,
): Promise<Answer> {
  for (let waits = 0; ; waits += 1) {
    const answer = await send();
    if (answer.status !== 429) return answer;
    if (waits === MAX_WAITS) throw new LimitedError(`429 also after waiting ${MAX_WAITS} times`);
    await pause(1000 * Math.min(secondsIn(answer.headers.get("retry-after")) ?? 1, MAX_WAIT_SECONDS));
  }
}

/** The seconds of a `Retry-After`; undefined when it is none. */
export function secondsIn(retryAfter: string | null): number | undefined {
  return retryAfter !== null && /^\d{1,6}$/.test(retryAfter) ? Number(retryAfter) : undefined;
}

export function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
