import { type RawBuilder, sql } from "kysely";

/** A part of a table, in the order of its ids. */
export type RetentionBatch = {
  /** Real time: older rows are removed. */
  readonly before: Date;
  /** The last id of the batch before; empty for the first batch. */
  readonly after: string;
  /** How many rows to examine. */
  readonly atMost: number;
};

export type RemovedBatch = {
  readonly removed: number;
  /** The last id of this batch; undefined when nothing older is left, or another server is removing rows. */
  readonly last: string | undefined;
};

/** The tables with old rows: how each is read in the order of its ids, and what of it may be removed. */
export const OLD_ROWS = {
  deliveries: { id: "webhook_id", prefix: "msg_", row: "d", isRemovable: isFinished },
  events: { id: "event_id", prefix: "evt_", row: "e", isRemovable: isForgettable },
} as const;

export type OldRows = keyof typeof OLD_ROWS;

/** The condition for removing a delivery `d`: finished, and without an attempt since a time. */
function isFinished(before: Date): RawBuilder<boolean> {
  return sql`d.state <> 'PENDING' and coalesce(
    (select max(at) from delivery_attempts a where a.webhook_id = d.webhook_id and a.merchant = d.merchant) < ${before}::timestamptz,
    true)`;
}

/**
 * The condition for removing an event `e`: it has no delivery any more. The newest event of an account or a customer stays,
 * because the next one takes its number from it (D21). Payments count their events themselves.
 *
 * Its deliveries are found by the time in its id, with which their ids begin, too, so they need no index by event, which every
 * attempt would have to write.
 */
export function isForgettable(): RawBuilder<boolean> {
  return sql`(
    (select count(*) from deliveries d
      where d.webhook_id >= 'msg_' || substr(e.event_id, 5, 18)
        and d.webhook_id < 'msg_' || substr(e.event_id, 5, 18) || '~' and d.event_id = e.event_id and d.merchant = e.merchant) = 0
    and (split_part(e.type, '.', 1) not in ('account', 'customer') or e.sequence < (
      select max(newest.sequence) from events newest
      where newest.resource_id = e.resource_id and newest.merchant = e.merchant
        and split_part(newest.type, '.', 1) = split_part(e.type, '.', 1))))`;
}
