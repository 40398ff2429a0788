const FIRST_DELAY_MS = 500;
const MAX_DELAY_MS = 8_000;

/**
 * Milliseconds to wait before the next attempt: anything up to a limit that doubles each time, so that clients who failed
 * together do not come back together; and on top of what the service asks for.
 */
export function toDelayMs(attempts: number, headers: Headers | undefined, random: () => number): number {
  const limit = Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** (attempts - 1));
  return (headers ? readRetryAfterMs(headers) : 0) + random() * limit;
}

/** `Retry-After`, in seconds or as a date; 0 when there is none, when it is over, or when it can't be read. */
export function readRetryAfterMs(headers: Headers): number {
  const text = headers.get("retry-after")?.trim() ?? "";
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  // Both dates by the service's clock, when it sends `Date`: ours may be wrong.
  const date = Date.parse(headers.get("date") ?? "");
  const waitMs = Date.parse(text) - (Number.isNaN(date) ? Date.now() : date);
  return waitMs > 0 ? waitMs : 0;
}
