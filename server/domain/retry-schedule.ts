/* When a failed delivery is attempted again (D23). */

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** How long after the end of each failed attempt the next one follows, in milliseconds of domain time (D23, D30). */
export const RETRY_STEPS_MS = [
  5 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  24 * HOUR,
] as const;

/** The largest part of a step that is added to it at random, so that deliveries which failed together are not retried together. */
const JITTER = 0.2;

/** `Retry-After` can lengthen a wait to at most this many steps. */
const MAX_RETRY_AFTER_STEPS = 2;

/**
 * How long to wait after a failed attempt, in milliseconds; undefined when it was the last one.
 * @param failed attempts that have failed, this one included
 * @param random from 0 up to 1
 * @param retryAfterMs what the receiver's `Retry-After` asks for; it only delays
 */
export function retryDelay(failed: number, random: number, retryAfterMs = 0): number | undefined {
  const step = RETRY_STEPS_MS[failed - 1];
  if (step === undefined) return undefined;
  const planned = step * (1 + JITTER * random);
  return Math.round(Math.max(planned, Math.min(retryAfterMs, MAX_RETRY_AFTER_STEPS * step)));
}

/**
 * What a `Retry-After` header asks for, in milliseconds from now; 0 when it is missing, invalid or in the past.
 * @param header seconds, or a date as HTTP writes it (RFC 9110, 5.6.7)
 */
export function parseRetryAfter(header: string | undefined, now: Date): number {
  const text = header?.trim() ?? "";
  if (/^\d+$/.test(text)) return Number(text) * SECOND;
  if (!/^[A-Z][a-z]{2,8},? /.test(text)) return 0;
  // The form of asctime names no zone; JavaScript would take that of this server.
  const time = Date.parse(/[A-Z]$|[+-]\d{4}$/.test(text) ? text : `${text} GMT`);
  return Number.isNaN(time) ? 0 : Math.max(0, time - now.getTime());
}
