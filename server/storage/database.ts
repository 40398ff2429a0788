import { Kysely, PGliteDialect, PostgresDialect, sql } from "kysely";
import { openEmbedded } from "./embedded.ts";
import { migrateToLatest } from "./migrate.ts";
import { createPool } from "./pool.ts";
import type { Store, Tables } from "./tables.ts";

/** The open store. Inside `db.transaction()` use only its transaction: embedded, there is a single connection. */
export type Database = {
  readonly db: Store;
  /** Whether the store is the one in DATA_DIR, which this process has to itself. */
  readonly embedded: boolean;
  /** Resolves when the database answers; rejects with what the driver says when it does not. */
  ping(): Promise<void>;
  /** Ends all connections and gives the data folder back. May be called again. */
  close(): Promise<void>;
};

export type DatabaseOptions = {
  /** `postgres://…`; without it the store is embedded. */
  readonly databaseUrl?: string | undefined;
  /** Folder of the embedded store; made when missing. */
  readonly dataDir: string;
  /** Told of a pooled connection that breaks while nobody uses it; the pool replaces it by itself. */
  readonly onConnectionError?: ((error: Error) => void) | undefined;
};

/**
 * Opens the store and brings its tables to the latest form.
 *
 * @throws DataDirLockedError when another process uses the folder of the embedded store
 */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const database = options.databaseUrl
    ? openPostgres(options.databaseUrl, options.onConnectionError)
    : await openPGlite(options.dataDir);
  try {
    await migrateToLatest(database.db);
  } catch (error) {
    await database.close();
    throw error;
  }
  return database;
}

function openPostgres(databaseUrl: string, onConnectionError?: (error: Error) => void): Database {
  const pool = createPool(databaseUrl, onConnectionError);
  return toDatabase(new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) }), { embedded: false });
}

async function openPGlite(dataDir: string): Promise<Database> {
  const { pglite, unlock } = await openEmbedded(dataDir);
  const db = new Kysely<Tables>({ dialect: new PGliteDialect({ pglite }) });
  return toDatabase(db, { embedded: true, unlock });
}

function toDatabase(db: Store, { embedded, unlock }: { embedded: boolean; unlock?: () => void }): Database {
  let closing: Promise<void> | undefined;
  return {
    db,
    embedded,
    async ping() {
      await sql`select 1`.execute(db);
    },
    close() {
      closing ??= db.destroy().finally(() => unlock?.());
      return closing;
    },
  };
}
