import { Kysely, PGliteDialect, PostgresDialect, sql } from "kysely";
import { type Connection, connectEmbedded, connectPool } from "./connection.ts";
import { openEmbedded } from "./embedded.ts";
import { migrateToLatest } from "./migrate.ts";
import { createPool } from "./pool.ts";
import { createPreparing, toPreparedPool } from "./prepared.ts";
import type { Store, Tables } from "./tables.ts";

/** How the connections of a pool are used. */
export type PoolUsage = {
  readonly inUse: number;
  readonly idle: number;
  /** Callers that wait for a connection. */
  readonly waiting: number;
};

/** The open store. Inside `db.transaction()` use only its transaction: embedded, there is a single connection. */
export type Database = {
  readonly db: Store;
  /** Whether the store is the one in DATA_DIR, which this process has to itself. */
  readonly embedded: boolean;
  /** The same store for a queue that keeps its own tables in it. Waits for transactions where it is embedded. */
  readonly connection: Connection;
  /** Resolves when the database answers; rejects with what the driver says when it does not. */
  ping(): Promise<void>;
  /** Undefined for the embedded store, which has one connection. */
  poolUsage(): PoolUsage | undefined;
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

function openPostgres(databaseUrl: string, onConnectionError: (error: Error) => void = () => {}): Database {
  const pool = createPool(databaseUrl, onConnectionError);
  const run = createPreparing();
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool: toPreparedPool(pool, run) }) });
  const connection = connectPool({ pool, run, connectionString: databaseUrl, onConnectionError });
  const poolUsage = () => {
    const { totalCount, idleCount: idle, waitingCount: waiting } = pool;
    return { inUse: totalCount - idle, idle, waiting };
  };
  return toDatabase(db, { embedded: false, connection, poolUsage });
}

async function openPGlite(dataDir: string): Promise<Database> {
  const { pglite, unlock } = await openEmbedded(dataDir);
  const db = new Kysely<Tables>({ dialect: new PGliteDialect({ pglite }) });
  const parts = { embedded: true, connection: connectEmbedded(pglite), poolUsage: () => undefined };
  return toDatabase(db, { ...parts, unlock });
}

function toDatabase(
  db: Store,
  { unlock, ...parts }: Pick<Database, "embedded" | "connection" | "poolUsage"> & { unlock?: () => void },
): Database {
  let closing: Promise<void> | undefined;
  return {
    db,
    ...parts,
    async ping() {
      await sql`select 1`.execute(db);
    },
    close() {
      closing ??= db.destroy().finally(() => unlock?.());
      return closing;
    },
  };
}
