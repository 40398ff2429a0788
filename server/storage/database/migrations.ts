import { setTimeout } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { sql } from "kysely";
import { DEFAULT_MIGRATION_TABLE, type Migration, Migrator } from "kysely/migration";
import { ADVISORY_LOCKS } from "./advisory-locks.ts";
import { initialTables } from "./initial-tables.ts";
import type { Db } from "./tables.ts";

export type Migrations = Readonly<Record<string, Migration>>;

/** Applied in the order of their names. A released migration is never changed. */
export const MIGRATIONS: Migrations = {
  "0001-initial-tables": initialTables,
};

/**
 * Brings the tables to the latest form, all in one transaction. Servers of the release before may go on meanwhile.
 *
 * @throws the database's error; also when a newer release has migrated the database already
 */
export async function migrateToLatest(db: Db, migrations = MIGRATIONS): Promise<void> {
  if (await areApplied(db, Object.keys(migrations))) return;
  const migrator = new Migrator({ db, provider: { getMigrations: async () => ({ ...migrations }) } });
  const { error } = await migrator.migrateToLatest();
  if (error) throw error;
}

/** The library finds this out as well, but first it describes all tables of the database twice: 0.2 s on the embedded store. */
async function areApplied(db: Db, names: readonly string[]): Promise<boolean> {
  const { rows } = await sql<{ exists: boolean }>`
    select to_regclass(${DEFAULT_MIGRATION_TABLE}) is not null as exists`.execute(db);
  if (rows[0]?.exists !== true) return false;
  const applied = await sql<{ name: string }>`select name from ${sql.table(DEFAULT_MIGRATION_TABLE)}`.execute(
    db,
  );
  return isDeepStrictEqual(new Set(applied.rows.map(({ name }) => name)), new Set(names));
}

/** How long a server that waits for another one to migrate pauses before it looks again, in milliseconds. */
const PAUSE_MS = 100;

/**
 * The same while servers of the release before are at work. Replicas that start together are safe: one migrates under a
 * lock, and the others wait and then find nothing to do. They ask repeatedly, because an index that is built while writers go
 * on waits for every statement that began before, also for one that waits for this lock.
 */
export async function migrateBesideOthers(db: Db, migrations = MIGRATIONS): Promise<void> {
  await db.connection().execute(async (connection) => {
    while (!(await tryLock(connection))) await setTimeout(PAUSE_MS);
    try {
      await migrateToLatest(db, migrations);
    } finally {
      await sql`select pg_advisory_unlock(${ADVISORY_LOCKS.migration}::integer, 0)`.execute(connection);
    }
  });
}

async function tryLock(connection: Db): Promise<boolean> {
  const { rows } = await sql<{ locked: boolean }>`
    select pg_try_advisory_lock(${ADVISORY_LOCKS.migration}::integer, 0) as locked`.execute(connection);
  return rows[0]?.locked === true;
}
