import { v7 } from "uuid";

/*
 * Ids are version 7 UUIDs: they grow with real time, so new rows land at the end of their indexes, and two ids of one
 * process keep their order. Nothing reads the time out of an id, so it is no second clock beside the domain's (D30).
 */

/** A new id for a refund: `rfd_…`. */
export function createRefundId(): string {
  return `rfd_${v7()}`;
}

/** A new id for an original payment: `pay_…`. */
export function createPaymentId(): string {
  return `pay_${v7()}`;
}

/** A new key for a webhook subscription: `sub_…`. */
export function createSubscriptionKey(): string {
  return `sub_${v7()}`;
}

/** A new id for an event: `evt_…`. */
export function createEventId(): string {
  return `evt_${v7()}`;
}
