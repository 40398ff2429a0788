import { sql } from "kysely";
import type { Db } from "./database/db-types.ts";

/**
 * Advances the clock. Concurrent calls, in this and in other processes, run one after the other, so that none is lost.
 * @param nextOffset computes the new offset from the present one (ms); it runs under the lock, so it must be fast
 * @returns "backwards", without a change, when the new offset is smaller than the present one
 */
export async function advance(db: Db, nextOffset: (offsetMs: number) => number): Promise<Advance> {
  return db.transaction().execute(async (transaction) => {
    const offsetMs = nextOffset(await lockOffset(transaction));
    const { numAffectedRows } = await sql`
      update clock set offset_ms = ${offsetMs} where offset_ms <= ${offsetMs}`.execute(transaction);
    return numAffectedRows === 1n ? { kind: "advanced", offsetMs } : { kind: "backwards" };
  });
}

export type Advance =
  | { readonly kind: "advanced"; readonly offsetMs: number }
  | { readonly kind: "backwards" };

/** How far domain time is ahead of real time, in milliseconds; 0 when the clock was never advanced (D30). */
export async function readOffset(db: Db): Promise<number> {
  const { rows } = await sql<{ offset_ms: number }>`select offset_ms from clock`.execute(db);
  return rows[0]?.offset_ms ?? 0;
}

/** Inserts the row if it is missing, because only a row can be locked. */
async function lockOffset(transaction: Db): Promise<number> {
  const { rows } = await sql<{ offset_ms: number }>`
    insert into clock (offset_ms) values (0)
    on conflict (single_row) do update set offset_ms = clock.offset_ms
      returning offset_ms`.execute(transaction);
  return rows[0]?.offset_ms ?? 0;
}
