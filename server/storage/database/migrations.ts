import { isDeepStrictEqual } from "node:util";
import { sql } from "kysely";
import { DEFAULT_MIGRATION_TABLE, type Migration, Migrator } from "kysely/migration";
import { ADVISORY_LOCKS, waitForLock } from "./advisory-locks.ts";
import type { Db } from "./db-types.ts";
import { initialTables } from "./initial-tables.ts";
import { payoutAndAuditTables } from "./payout-and-audit-tables.ts";
import { NO_SCHEMA, StoreStartError } from "./start-error.ts";

export type Migrations = Readonly<Record<string, Migration>>;

/** The migrations, applied in the order of their names. A released one is never changed. */
export const MIGRATIONS: Migrations = {
  "0001-initial-tables": initialTables,
  "0002-feed-and-record": payoutAndAuditTables,
};

/**
 * Brings the tables to the latest form, all in one transaction. Servers of the release before may go on meanwhile.
 * @throws the database's error; also when a newer release has migrated the database already
 */
export async function migrateToLatest(db: Db, migrations = MIGRATIONS): Promise<void> {
  const applied = await readApplied(db);
  if (isDeepStrictEqual(applied, new Set(Object.keys(migrations)))) return;
  const [first = ""] = Object.keys(migrations);
  const schema = applied.has(first) ? await readSchema(db) : await refuseForeignTables(db, applied);
  if (schema === null) throw new StoreStartError(NO_SCHEMA);
  const migrator = new Migrator({
    db,
    provider: { getMigrations: async () => ({ ...migrations }) },
    migrationTableSchema: schema, // another one may have tables of the same names
  });
  const { error } = await migrator.migrateToLatest();
  if (error) throw error;
}

/** The library finds this out as well, but first it describes all tables of the database twice: 0.2 s on the embedded store. */
async function readApplied(db: Db): Promise<Set<string>> {
  const { rows } = await sql<{ exists: boolean }>`
    select to_regclass(${DEFAULT_MIGRATION_TABLE}) is not null as exists`.execute(db);
  if (rows[0]?.exists !== true) return new Set();
  const applied = await sql<{ name: string }>`select name from ${sql.table(DEFAULT_MIGRATION_TABLE)}`.execute(
    db,
  );
  return new Set(applied.rows.map(({ name }) => name));
}

async function readSchema(db: Db): Promise<string | null> {
  const { rows } = await sql<{ schema: string | null }>`select current_schema() as schema`.execute(db);
  return rows[0]?.schema ?? null;
}

/** Throws {@link StoreStartError} where the schema belongs to another program, whose own migrations ours would break. */
async function refuseForeignTables(db: Db, applied: ReadonlySet<string>): Promise<string | null> {
  const schema = await readSchema(db);
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_class
    where relkind in ('r', 'p', 'v', 'm', 'f') and relnamespace = to_regnamespace(quote_ident(current_schema()))
      and not exists (select from pg_depend where classid = 'pg_class'::regclass and objid = pg_class.oid and deptype = 'e')
    order by name`.execute(db);
  // An earlier start may have ended between the tables of the library and ours; the record of admin commands exists before all others.
  const isOwn = (name: string) =>
    name === "admin_actions" || (applied.size === 0 && name.startsWith(DEFAULT_MIGRATION_TABLE));
  const foreign = rows.map(({ name }) => name).filter((name) => !isOwn(name));
  if (foreign.length === 0) return schema;
  const shown = foreign.length > 5 ? [...foreign.slice(0, 5), `${foreign.length - 5} more`] : foreign;
  throw new StoreStartError(
    `The schema ${schema} of the database has tables of another program (${shown.join(", ")}), so nothing was created. Name an empty database in DATABASE_URL, or give it a schema of its own: create schema refunds, and end DATABASE_URL with ?options=-csearch_path%3Drefunds.`,
  );
}

/**
 * As `migrateToLatest`, for replicas that start together: one migrates under a lock, and the others wait and then find nothing to
 * do.
 */
export async function migrateBesideOthers(db: Db, migrations = MIGRATIONS): Promise<void> {
  // First without the lock, which any role could hold.
  if (isDeepStrictEqual(await readApplied(db), new Set(Object.keys(migrations)))) return;
  await db.connection().execute(async (connection) => {
    await waitForLock(connection, "migration", "session");
    try {
      await migrateToLatest(db, migrations);
    } finally {
      await sql`select pg_advisory_unlock(${ADVISORY_LOCKS.migration}::integer, 0)`.execute(connection);
    }
  });
}
