import { setTimeout } from "node:timers/promises";
import { type RawBuilder, sql } from "kysely";
import { isLockTimeout } from "../database/database-errors.ts";
import type { Db } from "../database/db-types.ts";

/** No merchant has an empty name, so it can stand for all of them. */
export const ALL = "";

/** While a merchant is held, none of its refunds becomes AUTHORIZED: those that wait stay PENDING, and a new one is refused (D35). */
export type Hold = {
  /** Undefined: all merchants. */
  readonly merchant: string | undefined;
  readonly reason: string;
  /** Real time. */
  readonly heldAt: Date;
};

/** The condition that refunds of a merchant are held. */
export function isHeld(merchant: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql<boolean>`exists (select from holds where holds.merchant in (${sql.lit(ALL)}, ${merchant}))`;
}

/** All holds, oldest first. */
export async function listHolds(db: Db): Promise<Hold[]> {
  const { rows } = await sql<Hold & { merchant: string }>`
    select merchant, reason, held_at as "heldAt" from holds order by held_at, merchant`.execute(db);
  return rows.map((row) => ({ ...row, merchant: row.merchant === ALL ? undefined : row.merchant }));
}

/**
 * Holds the refunds of a merchant, or of all. Statements that began before may still authorize some until `untilHeld` resolves.
 *
 * @returns false when they are held already; then the first reason stays
 */
export async function hold(
  db: Db,
  { merchant = ALL, reason }: { merchant?: string | undefined; reason: string },
): Promise<boolean> {
  const { numAffectedRows } = await sql`
    insert into holds (merchant, reason) values (${merchant}, ${reason}) on conflict do nothing`.execute(db);
  return numAffectedRows === 1n;
}

/**
 * Ends a hold. Refunds that have fallen due meanwhile are authorized by the next scan, within a second; those of a merchant
 * with a hold of its own stay held.
 *
 * @returns whether there was one
 */
export async function release(db: Db, { merchant = ALL }: Pick<Hold, "merchant">): Promise<boolean> {
  const { numAffectedRows } = await sql`delete from holds where merchant = ${merchant}`.execute(db);
  return numAffectedRows === 1n;
}

/** Other statements queue behind a lock that waits, so it waits only this long (ms), and pauses to let them run. */
const LOCK_TIMEOUT_MS = 100;
/** The pauses, of which the last repeats: a session that lasts, such as a dump, must not make others queue again and again. */
const PAUSES_MS = [50, 100, 200, 400, 800, 1_600, 3_000] as const;

export type HoldWait = {
  /** Aborted when the operator interrupts. */
  readonly signal?: AbortSignal;
  /** Called once, after some seconds, with the process ids of the sessions that it waits for. */
  readonly onWaiting?: (pids: readonly number[]) => void;
};

/**
 * Waits until no transaction is left that could authorize a refund because it began before a hold. Each has read the table, and
 * keeps its lock on it until it ends.
 *
 * @returns false when the operator has interrupted
 */
export async function untilHeld(db: Db, { signal, onWaiting }: HoldWait = {}): Promise<boolean> {
  const last = PAUSES_MS.length - 1;
  for (let tries = 0; !(await tryLock(db)); tries += 1) {
    if (tries === last) onWaiting?.(await findReaders(db));
    await setTimeout(PAUSES_MS[Math.min(tries, last)], undefined, { signal }).catch(() => {});
    if (signal?.aborted) return false;
  }
  return true;
}

/** The sessions that have read the holds in a transaction that goes on; on a cluster, those of the coordinator. */
async function findReaders(db: Db): Promise<number[]> {
  const { rows } = await sql<{ pid: number }>`
    select distinct l.pid from pg_locks l join pg_database d on d.oid = l.database
    where d.datname = current_database() and l.relation = 'holds'::regclass and l.granted and l.pid <> pg_backend_pid()
    order by l.pid`.execute(db);
  return rows.map(({ pid }) => pid);
}

async function tryLock(db: Db): Promise<boolean> {
  try {
    await db.transaction().execute(async (transaction) => {
      await sql.raw(`set local lock_timeout = ${LOCK_TIMEOUT_MS}`).execute(transaction);
      await sql`lock table holds in access exclusive mode`.execute(transaction);
    });
    return true;
  } catch (error) {
    if (isLockTimeout(error)) return false;
    throw error;
  }
}
