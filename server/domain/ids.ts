import { v7 } from "uuid";

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
  const options = { msecs: Math.max(0, time.getTime()), seq: 0, random: new Uint8Array(16) };
  return prefix + v7(options).slice(0, TIME_AND_VERSION);
}

/** The characters of a UUID that hold its milliseconds, and the version with its hyphens. */
const TIME_AND_VERSION = "01932c07-209b-7".length;

/** Random bytes for 256 ids: asking the system for each id separately takes ten times as long. */
const random = new Uint8Array(256 * 16);
let used = random.length;
/** The millisecond of the previous id, and its number in that millisecond. */
let last = { msecs: 0, seq: 0 };

function createUuid(): string {
  if (used === random.length) {
    crypto.getRandomValues(random);
    used = 0;
  }
  const bytes = random.subarray(used, used + 16);
  used += 16;
  last = follow(last, Date.now(), bytes);
  return v7({ ...last, random: bytes });
}

/** A clock that goes back by up to this many milliseconds was adjusted; one that goes back further had been wrong. */
const ADJUSTED_MS = 60_000;

/**
 * Makes each id greater than the one before, even if the clock stands still or goes back a little. After a clock that was far
 * ahead, ids begin at the present again: retention would keep ids of the future until then.
 */
function follow({ msecs, seq }: typeof last, now: number, bytes: Uint8Array): typeof last {
  // A new millisecond begins at a random number in the lower half, so that there are numbers left.
  if (now > msecs || msecs - now > ADJUSTED_MS)
    return { msecs: now, seq: new DataView(bytes.buffer, bytes.byteOffset).getUint32(6) >>> 1 };
  return seq < 0xffff_ffff ? { msecs, seq: seq + 1 } : { msecs: msecs + 1, seq: 0 };
}
