import { setTimeout } from "node:timers/promises";
import { sql } from "kysely";
import { type Migration, Migrator } from "kysely/migration";
import { ADVISORY_LOCKS } from "./advisory-locks.ts";
import { firstTables } from "./migrations/0001-first-tables.ts";
import { deliveries } from "./migrations/0002-deliveries.ts";
import { production } from "./migrations/0003-production.ts";
import { newestPayments } from "./migrations/0004-newest-payments.ts";
import { adminActions } from "./migrations/0005-admin-actions.ts";
import { timeouts } from "./migrations/0006-timeouts.ts";
import { attemptTimes } from "./migrations/0007-attempt-times.ts";
import { noJobQueue } from "./migrations/0008-no-job-queue.ts";
import { merchantKeys } from "./migrations/0009-merchant-keys.ts";
import type { Store } from "./tables.ts";

/** Applied in the order of their names. A released migration is never changed. */
export const migrations: Record<string, Migration> = {
  "0001-first-tables": firstTables,
  "0002-deliveries": deliveries,
  "0003-production": production,
  "0004-newest-payments": newestPayments,
  "0005-admin-actions": adminActions,
  "0006-timeouts": timeouts,
  "0007-attempt-times": attemptTimes,
  "0008-no-job-queue": noJobQueue,
  "0009-merchant-keys": merchantKeys,
};

/**
 * Brings the tables to the latest form, all in one transaction.
 *
 * @throws the database's error; also when a newer release has migrated the database already
 */
export async function migrateToLatest(db: Store): Promise<void> {
  const migrator = new Migrator({ db, provider: { getMigrations: async () => migrations } });
  const { error } = await migrator.migrateToLatest();
  if (error) throw error;
}

/** How long a server that waits for another one to migrate pauses before it looks again, in milliseconds. */
const PAUSE_MS = 100;

/**
 * The same while servers of the release before are at work. Replicas that start together are safe: one migrates under a
 * lock, and the others wait and then find nothing to do. They ask again and again, because an index that is built while
 * writers go on waits for every statement that began before, also for one that waits for this lock.
 */
export async function migrateBesideOthers(db: Store): Promise<void> {
  await db.connection().execute(async (connection) => {
    while (!(await tryLock(connection))) await setTimeout(PAUSE_MS);
    try {
      await merchantKeys.prepare(connection);
      await migrateToLatest(db);
    } finally {
      await sql`select pg_advisory_unlock(${ADVISORY_LOCKS.migration}::integer, 0)`.execute(connection);
    }
  });
}

async function tryLock(connection: Store): Promise<boolean> {
  const { rows } = await sql<{ locked: boolean }>`
    select pg_try_advisory_lock(${ADVISORY_LOCKS.migration}::integer, 0) as locked`.execute(connection);
  return rows[0]?.locked === true;
}
