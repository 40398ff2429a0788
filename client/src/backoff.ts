/* How long the client waits before it sends a call again. */

const FIRST_DELAY_MS = 500;
const MAX_DELAY_MS = 8_000;

/**
 * Milliseconds to wait before the next attempt: a random time up to a limit that doubles with each attempt, so that clients
 * that failed together do not retry together. It is added to the time that the service asks for.
 */
export function toDelayMs(attempts: number, headers: Headers | undefined, random: () => number): number {
  const limit = Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** (attempts - 1));
  return (headers ? readRetryAfterMs(headers) : 0) + random() * limit;
}

/** `Retry-After`, in seconds or as a date; 0 when it is missing, in the past, or malformed. */
export function readRetryAfterMs(headers: Headers): number {
  const text = headers.get("retry-after") ?? "";
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  // Compared with `Date`, where the service sends it, because this machine's clock may be wrong.
  const date = Date.parse(headers.get("date") ?? "");
  const waitMs = Date.parse(text) - (Number.isNaN(date) ? Date.now() : date);
  return waitMs > 0 ? waitMs : 0;
}
