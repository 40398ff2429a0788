import { setTimeout } from "node:timers/promises";
import { sql } from "kysely";
import type { Store } from "../database/tables.ts";
import { isLockTimeout } from "../database/unavailable.ts";
import { ALL } from "../statements/holds.ts";

/** While a merchant is held, none of its refunds becomes AUTHORIZED: they are accepted, and stay PENDING. */
export type Hold = {
  /** Undefined: all merchants. */
  readonly merchant: string | undefined;
  readonly reason: string;
  /** Real time. */
  readonly heldAt: Date;
};

/** All holds, oldest first. */
export async function listHolds(store: Store): Promise<Hold[]> {
  const rows = await store.selectFrom("holds").selectAll().orderBy("held_at").orderBy("merchant").execute();
  return rows.map(({ merchant, reason, held_at: heldAt }) => ({
    merchant: merchant === ALL ? undefined : merchant,
    reason,
    heldAt,
  }));
}

/**
 * Holds the refunds of a merchant, or of all. Statements that began before may still authorize some until `untilHeld` resolves.
 *
 * @returns false when they are held already; then the first reason stays
 */
export async function hold(
  store: Store,
  { merchant = ALL, reason }: { merchant?: string | undefined; reason: string },
): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await store
    .insertInto("holds")
    .values({ merchant, reason })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return numInsertedOrUpdatedRows === 1n;
}

/**
 * Ends a hold. Refunds that have fallen due meanwhile are authorized by the next scan, within a second; those of a merchant
 * with a hold of its own stay held.
 *
 * @returns whether there was one
 */
export async function release(store: Store, { merchant = ALL }: Pick<Hold, "merchant">): Promise<boolean> {
  const { numDeletedRows } = await store
    .deleteFrom("holds")
    .where("merchant", "=", merchant)
    .executeTakeFirst();
  return numDeletedRows === 1n;
}

/** Other statements queue behind a lock that waits, so it waits only this long (ms), and pauses to let them run. */
const LOCK_TIMEOUT_MS = 100;
const PAUSE_MS = 50;

/**
 * Resolves when no transaction is left that could authorize a refund because it began before a hold. Each has read the table, and
 * keeps its lock on it until it ends.
 */
export async function untilHeld(store: Store): Promise<void> {
  while (!(await tryLock(store))) await setTimeout(PAUSE_MS);
}

async function tryLock(store: Store): Promise<boolean> {
  try {
    await store.transaction().execute(async (transaction) => {
      await sql.raw(`set local lock_timeout = ${LOCK_TIMEOUT_MS}`).execute(transaction);
      await sql`lock table holds in access exclusive mode`.execute(transaction);
    });
    return true;
  } catch (error) {
    if (isLockTimeout(error)) return false;
    throw error;
  }
}
