import { randomUUID } from "node:crypto";

/*
 * Ids are version 7 UUIDs: they grow with real time, so new rows land at the end of their indexes, and two ids of one
 * process keep their order. Only retention reads the time in an id, because it is real time, not domain time (D30).
 */

/** A new id for a refund: `rfd_…`. */
export function createRefundId(): string {
  return `rfd_${createUuid()}`;
}

/** A new id for an original payment: `pay_…`. */
export function createPaymentId(): string {
  return `pay_${createUuid()}`;
}

/** A new key for a webhook subscription: `sub_…`. */
export function createSubscriptionKey(): string {
  return `sub_${createUuid()}`;
}

/** A new id for an event: `evt_…`. */
export function createEventId(): string {
  return `evt_${createUuid()}`;
}

/** The lowest id that can have been created at this time; all earlier ids are lower. */
export function firstIdSince(prefix: "evt_" | "msg_" | "sub_", time: Date): string {
  return prefix + timeAndVersion(Math.max(0, time.getTime()));
}

/** The first characters of a UUID, such as `01932c07-209b-7`. */
function timeAndVersion(msecs: number): string {
  const digits = msecs.toString(16).padStart(12, "0");
  return `${digits.slice(0, 8)}-${digits.slice(8)}-7`;
}

/** The millisecond of the previous id, and its number in that millisecond, of three hexadecimal digits. */
let last = { msecs: 0, seq: 0 };

function createUuid(): string {
  const random = randomUUID(); // of version 4, whose other digits are random
  last = follow(last, Date.now(), random);
  return timeAndVersion(last.msecs) + last.seq.toString(16).padStart(3, "0") + random.slice(18);
}

/** A clock that goes back by up to this many milliseconds was adjusted; one that goes back further had been wrong. */
const ADJUSTED_MS = 60_000;

/**
 * Makes each id greater than the one before, even if the clock stands still or goes back a little. After a clock that was far
 * ahead, ids begin at the present again: retention would keep ids of the future until then.
 */
function follow({ msecs, seq }: typeof last, now: number, random: string): typeof last {
  // A new millisecond begins at a random number in the lower half, so that there are numbers left.
  if (now > msecs || msecs - now > ADJUSTED_MS)
    return { msecs: now, seq: Number.parseInt(random.slice(0, 3), 16) >>> 1 };
  return seq < 0xfff ? { msecs, seq: seq + 1 } : { msecs: msecs + 1, seq: 0 };
}
