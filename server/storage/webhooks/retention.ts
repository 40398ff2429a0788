import { type RawBuilder, sql } from "kysely";
import { firstIdSince } from "../../domain/ids.ts";
import type { Store } from "../database/tables.ts";
import { isDistributed, toBatches } from "../distributed/citus.ts";

/** Key of the advisory lock that lets one server at a time remove rows. */
const LOCK_CLASS = 40;

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

type RemovedRow = { removed: number; last: string | null };

/**
 * Removes deliveries that are finished, with their attempts: those of events that happened before a time, and without an
 * attempt since then. Pending ones stay, however old, and so do those that were sent again lately.
 *
 * Every part of the statement looks rows up by id, because a plan that reads a whole table would delay refunds.
 */
export async function removeDeliveries(store: Store, batch: RetentionBatch): Promise<RemovedBatch> {
  if (isDistributed(store)) return removeByMerchant(store, "deliveries", batch);
  const { before, after, atMost } = batch;
  const { rows } = await sql<RemovedRow>`
    with ${inTurn()}, batch as materialized (
      select older.webhook_id from turn, lateral (
        select webhook_id from deliveries
        where turn.ours and webhook_id > ${after} and webhook_id < ${firstIdSince("msg_", before)}
        order by webhook_id limit ${atMost}
      ) as older
    ), removed as (
      delete from deliveries d
      where d.webhook_id = any(array(select webhook_id from batch)) and ${isFinished(before)}
      returning 1
    )
    select (select count(*)::integer from removed) as removed, (select max(webhook_id) from batch) as last`.execute(
    store,
  );
  return toRemoved(rows[0]);
}

/**
 * Removes events that happened before a time and have no delivery any more. The newest event of an account or a customer
 * stays, because the next one takes its number from it (D21). Payments count their events themselves.
 */
export async function removeEvents(store: Store, batch: RetentionBatch): Promise<RemovedBatch> {
  if (isDistributed(store)) return removeByMerchant(store, "events", batch);
  const { before, after, atMost } = batch;
  const { rows } = await sql<RemovedRow>`
    with ${inTurn()}, batch as materialized (
      select older.event_id from turn, lateral (
        select event_id from events
        where turn.ours and event_id > ${after} and event_id < ${firstIdSince("evt_", before)}
        order by event_id limit ${atMost}
      ) as older
    ), removed as (
      delete from events e
      where e.event_id = any(array(select event_id from batch)) and ${isForgettable()}
      returning 1
    )
    select (select count(*)::integer from removed) as removed, (select max(event_id) from batch) as last`.execute(
    store,
  );
  return toRemoved(rows[0]);
}

/** How each table with old rows is read, and what of it may go. */
const TABLES = {
  deliveries: { id: "webhook_id", prefix: "msg_", row: "d", isRemovable: isFinished },
  events: { id: "event_id", prefix: "evt_", row: "e", isRemovable: isForgettable },
} as const;

/** The same for distributed tables: finds the rows on all machines, and removes those of each merchant by themselves. */
async function removeByMerchant(
  store: Store,
  table: keyof typeof TABLES,
  { before, after, atMost }: RetentionBatch,
): Promise<RemovedBatch> {
  const { prefix, row, isRemovable } = TABLES[table];
  const id = sql.ref(TABLES[table].id);
  const remove = async (transaction: Store) => {
    const turn = await sql<{ ours: boolean }>`
      select pg_try_advisory_xact_lock(${LOCK_CLASS}::integer, 0) as ours`.execute(transaction);
    if (!turn.rows[0]?.ours) return toRemoved(undefined);
    const { rows } = await sql<{ id: string; merchant: string }>`
      select ${id} as id, merchant from ${sql.table(table)}
      where ${id} > ${after} and ${id} < ${firstIdSince(prefix, before)}
      order by ${id} limit ${atMost}`.execute(transaction);
    let removed = 0;
    for (const batch of toBatches(transaction, rows)) {
      const { numAffectedRows = 0n } = await sql`
        delete from ${sql.table(table)} ${sql.ref(row)}
        where ${id} = any(${batch.map((old) => old.id)}::text[]) and merchant = ${batch[0]?.merchant}
          and ${isRemovable(before)}`.execute(transaction);
      removed += Number(numAffectedRows);
    }
    return { removed, last: rows.at(-1)?.id };
  };
  return store.isTransaction ? remove(store) : store.transaction().execute(remove);
}

/** The condition for removing a delivery `d`. */
function isFinished(before: Date): RawBuilder<boolean> {
  return sql`d.state <> 'PENDING' and coalesce(
    (select max(at) from delivery_attempts a where a.webhook_id = d.webhook_id and a.merchant = d.merchant) < ${before}::timestamptz,
    true)`;
}

/** The lock is free again when the statement ends. */
function inTurn(): RawBuilder<unknown> {
  return sql`turn as materialized (select pg_try_advisory_xact_lock(${LOCK_CLASS}::integer, 0) as ours)`;
}

/**
 * The condition for removing an event `e`. Its deliveries are found by the time in its id, with which their ids begin, too,
 * so they need no index by event, which every attempt would have to write.
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

function toRemoved(row: RemovedRow | undefined): RemovedBatch {
  return { removed: row?.removed ?? 0, last: row?.last ?? undefined };
}
