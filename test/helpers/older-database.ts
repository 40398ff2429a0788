import { Kysely, PGliteDialect, PostgresDialect } from "kysely";
import { Migrator } from "kysely/migration";
import pg from "pg";
import { openEmbedded } from "../../server/storage/database/embedded.ts";
import { migrations } from "../../server/storage/database/migrations.ts";
import type { DatabaseOptions } from "../../server/storage/database.ts";

/** Runs a statement with values. */
type Runner = { query(text: string, values: unknown[]): Promise<unknown> };

/** Gives an empty database the tables of an older release, whose last migration is named, and rows. */
export async function migrateUpTo(
  last: keyof typeof migrations,
  options: DatabaseOptions,
  fill: (older: Runner) => Promise<void> = async () => {},
): Promise<void> {
  const { db, runner, unlock } = await openPlain(options);
  const older = Object.fromEntries(Object.entries(migrations).filter(([name]) => name <= last));
  const migrator = new Migrator({ db, provider: { getMigrations: async () => older } });
  try {
    const { error } = await migrator.migrateToLatest();
    if (error) throw error;
    await fill(runner);
  } finally {
    await db.destroy();
    unlock();
  }
}

async function openPlain({ databaseUrl, dataDir }: DatabaseOptions) {
  if (databaseUrl !== undefined) {
    const pool = new pg.Pool({ connectionString: databaseUrl });
    const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) });
    return { db, runner: pool as Runner, unlock: () => {} };
  }
  const { pglite, unlock } = await openEmbedded(dataDir);
  const db = new Kysely<unknown>({ dialect: new PGliteDialect({ pglite }) });
  return { db, runner: pglite as Runner, unlock };
}
