import { sql } from "kysely";
import { firstIdSince } from "../../domain/ids.ts";
import { ADVISORY_LOCKS } from "../database/advisory-locks.ts";
import type { Store } from "../database/tables.ts";
import { OLD_ROWS, type OldRows, type RemovedBatch, type RetentionBatch } from "../statements/retention.ts";

/**
 * By one statement, at whose end the lock is free again. Every part of it looks rows up by id, because a plan that reads a whole
 * table would delay refunds.
 */
export async function removeOld(
  store: Store,
  table: OldRows,
  { before, after, atMost }: RetentionBatch,
): Promise<RemovedBatch> {
  const { prefix, row, isRemovable } = OLD_ROWS[table];
  const id = sql.ref(OLD_ROWS[table].id);
  const { rows } = await sql<{ removed: number; last: string | null }>`
    with turn as materialized (
      select pg_try_advisory_xact_lock(${ADVISORY_LOCKS.retention}::integer, 0) as ours
    ), batch as materialized (
      select older.id from turn, lateral (
        select ${id} as id from ${sql.table(table)}
        where turn.ours and ${id} > ${after} and ${id} < ${firstIdSince(prefix, before)}
        order by ${id} limit ${atMost}
      ) as older
    ), removed as (
      delete from ${sql.table(table)} ${sql.ref(row)}
      where ${id} = any(array(select id from batch)) and ${isRemovable(before)}
      returning 1
    )
    select (select count(*)::integer from removed) as removed, (select max(id) from batch) as last`.execute(
    store,
  );
  return { removed: rows[0]?.removed ?? 0, last: rows[0]?.last ?? undefined };
}
