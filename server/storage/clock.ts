import { sql } from "kysely";
import type { Store } from "./tables.ts";

export type Advance =
  | { readonly kind: "advanced"; readonly offsetMs: number }
  | { readonly kind: "backwards" };

/** How far the domain's clock is ahead of real time, in milliseconds; 0 when it was never moved (D30). */
export async function readOffset(store: Store): Promise<number> {
  const row = await store.selectFrom("clock").select("offset_ms").executeTakeFirst();
  return row?.offset_ms ?? 0;
}

/**
 * Moves the clock. Calls in parallel, in this and in other processes, take their turn, so that none is lost.
 *
 * @param nextOffset from the present offset (ms) to the wanted one; called under the lock, so keep it short
 * @returns "backwards", and nothing is changed, when the wanted offset is smaller than the present one
 */
export async function advance(store: Store, nextOffset: (offsetMs: number) => number): Promise<Advance> {
  return store.transaction().execute(async (transaction) => {
    const offsetMs = nextOffset(await lockOffset(transaction));
    const { numUpdatedRows } = await transaction
      .updateTable("clock")
      .set({ offset_ms: offsetMs })
      .where("offset_ms", "<=", offsetMs)
      .executeTakeFirst();
    return numUpdatedRows === 1n ? { kind: "advanced", offsetMs } : { kind: "backwards" };
  });
}

/** Makes the row when it is missing and locks it, by one statement: a lock needs a row. */
async function lockOffset(transaction: Store): Promise<number> {
  const { offset_ms } = await transaction
    .insertInto("clock")
    .values({ offset_ms: 0 })
    .onConflict((conflict) => conflict.column("single_row").doUpdateSet({ offset_ms: sql`clock.offset_ms` }))
    .returning("offset_ms")
    .executeTakeFirstOrThrow();
  return offset_ms;
}
