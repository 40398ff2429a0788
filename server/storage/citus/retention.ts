import { sql } from "kysely";
import { firstIdSince } from "../../domain/ids.ts";
import { ADVISORY_LOCKS } from "../database/advisory-locks.ts";
import type { Store } from "../database/tables.ts";
import { OLD_ROWS, type OldRows, type RemovedBatch, type RetentionBatch } from "../statements/retention.ts";
import { statementsOf, storeOf } from "../statements/statements.ts";
import { groupByMerchant } from "./batches.ts";

/** Finds the rows on all machines, and removes those of each merchant by themselves. */
export async function removeOld(
  store: Store,
  table: OldRows,
  { before, after, atMost }: RetentionBatch,
): Promise<RemovedBatch> {
  const { prefix, row, isRemovable } = OLD_ROWS[table];
  const id = sql.ref(OLD_ROWS[table].id);
  const remove = async (transaction: Store) => {
    const turn = await sql<{ ours: boolean }>`
      select pg_try_advisory_xact_lock(${ADVISORY_LOCKS.retention}::integer, 0) as ours`.execute(transaction);
    if (!turn.rows[0]?.ours) return { removed: 0, last: undefined };
    const found = await statementsOf(store).findOverall(
      store,
      sql<{ id: string; merchant: string }>`
        select ${id} as id, merchant from ${sql.raw(table)}
        where ${id} > ${after} and ${id} < ${firstIdSince(prefix, before)}
        order by ${id} limit ${atMost}::integer`,
    );
    const rows = found.toSorted((a, b) => (a.id < b.id ? -1 : 1)).slice(0, atMost);
    let removed = 0;
    for (const batch of groupByMerchant(rows)) {
      const { numAffectedRows = 0n } = await sql`
        delete from ${sql.table(table)} ${sql.ref(row)}
        where ${id} = any(${batch.map((old) => old.id)}::text[]) and merchant = ${batch[0]?.merchant}
          and ${isRemovable(before)}`.execute(await storeOf(store, batch[0]?.merchant ?? ""));
      removed += Number(numAffectedRows);
    }
    return { removed, last: rows.at(-1)?.id };
  };
  return store.isTransaction ? remove(store) : store.transaction().execute(remove);
}
