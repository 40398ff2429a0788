import { type RawBuilder, sql } from "kysely";
import { firstIdSince } from "../../domain/ids.ts";
import type { Db } from "../database/db-types.ts";
import { tryTurn } from "../database/turn-locks.ts";

/**
 * Deletes those of a batch of rows whose retention is over, by one statement. It holds a lock, so that one server at a time deletes.
 * Every part of it looks rows up by id, because a plan that reads a whole table would delay refunds.
 */
export async function removeOld(db: Db, batch: RetentionBatch): Promise<RemovedBatch> {
  const { id, isRemovable } = OLD_ROWS[batch.table];
  const { rows } = await sql<{ removed: number; last: string | null }>`
    with turn as materialized (
      select ${tryTurn("retention")} as ours
    ), batch as materialized (
      select older.id from turn, lateral (${selectOld(batch, sql`turn.ours`)}) as older
    ), removed as (
      delete from ${sql.table(batch.table)} e
      where ${sql.ref(id)} = any(array(select id from batch)) and ${isRemovable(batch.before)}
      returning 1
    )
    select (select count(*)::integer from removed) as removed, (select max(id)
    from batch) as last`.execute(db);
  return { removed: rows[0]?.removed ?? 0, last: rows[0]?.last ?? undefined };
}

/** A part of a table, in the order of its ids. */
export type RetentionBatch = {
  readonly table: OldRows;
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

/**
 * The tables with old rows: how each is read in the order of its ids, and which of its rows `e` may be removed: deliveries that are
 * finished, with their attempts, and events without deliveries, except for the newest one of an account or customer.
 */
export const OLD_ROWS = {
  deliveries: { id: "webhook_id", prefix: "msg_", isRemovable: isFinished },
  events: { id: "event_id", prefix: "evt_", isRemovable: isForgettable },
} as const;

export type OldRows = keyof typeof OLD_ROWS;

/** Selects the rows of a batch. */
export function selectOld(
  { table, before, after, atMost }: RetentionBatch,
  condition = sql`true`,
): RawBuilder<{ id: string; merchant: string }> {
  const id = sql.ref(OLD_ROWS[table].id);
  return sql`select ${id} as id, merchant from ${sql.raw(table)}
    where ${condition} and ${id} > ${after} and ${id} < ${firstIdSince(OLD_ROWS[table].prefix, before)}
    order by ${id} limit ${atMost}::integer`;
}

/** The condition for removing a delivery: finished, and without an attempt since a time. Pending ones stay, however old. */
function isFinished(before: Date): RawBuilder<boolean> {
  return sql`e.state <> 'PENDING' and coalesce(
    (select max(at) from delivery_attempts a where a.webhook_id = e.webhook_id and a.merchant = e.merchant) < ${before}::timestamptz,
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
