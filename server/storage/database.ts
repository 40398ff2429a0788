import { Kysely, PGliteDialect, PostgresDialect, sql } from "kysely";
import { type Connection, connectEmbedded, connectPool } from "./connection.ts";
import { openEmbedded } from "./embedded.ts";
import { migrateToLatest } from "./migrate.ts";
import { createPool, type Pool } from "./pool.ts";
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
  /** The same store for what no caller waits for, and what may touch much: with connections and time limits of its own. */
  readonly background: Store;
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

/**
 * How long PostgreSQL may take, in milliseconds; beyond that it counts as unavailable. A migration has no limits, and the
 * embedded store knows none.
 */
export type StoreLimits = {
  /** To give a connection, whether all are in use or none can be made. */
  readonly connectMs: number;
  /** For a statement, locks included. A server that does not answer at all is given up a second later. */
  readonly statementMs: number;
  /** The same for statements of `background` and of the queue. */
  readonly backgroundMs: number;
};

const LIMITS: StoreLimits = { connectMs: 4_000, statementMs: 4_000, backgroundMs: 30_000 };

/** The queue, one dispatch and one scan for what is due are at work at a time, and seldom anything more. */
const BACKGROUND_CONNECTIONS = 6;

export type DatabaseOptions = {
  /** `postgres://…`; without it the store is embedded. */
  readonly databaseUrl?: string | undefined;
  /** Folder of the embedded store; made when missing. */
  readonly dataDir: string;
  /** Told of a pooled connection that breaks while nobody uses it; the pool replaces it by itself. */
  readonly onConnectionError?: ((error: Error) => void) | undefined;
  readonly limits?: Partial<StoreLimits> | undefined;
};

/**
 * Opens the store and brings its tables to the latest form.
 *
 * @throws DataDirLockedError when another process uses the folder of the embedded store
 */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const { databaseUrl } = options;
  if (databaseUrl === undefined) return openPGlite(options.dataDir);
  await migratePostgres(databaseUrl);
  return openPostgres(databaseUrl, options);
}

/** On a pool without limits: a migration takes its time, and so do the replicas before this one. */
async function migratePostgres(databaseUrl: string): Promise<void> {
  const db = toStore(createPool(databaseUrl));
  try {
    await migrateToLatest(db);
  } finally {
    await db.destroy();
  }
}

function openPostgres(
  databaseUrl: string,
  { limits, onConnectionError = () => {} }: DatabaseOptions,
): Database {
  const { connectMs, statementMs, backgroundMs } = { ...LIMITS, ...limits };
  const shared = { connectMs, onConnectionError };
  const pool = createPool(databaseUrl, { ...shared, statementMs });
  const backgroundPool = createPool(databaseUrl, {
    ...shared,
    statementMs: backgroundMs,
    size: BACKGROUND_CONNECTIONS,
  });
  const run = createPreparing();
  const poolUsage = () => {
    const { totalCount, idleCount: idle, waitingCount: waiting } = pool;
    return { inUse: totalCount - idle, idle, waiting };
  };
  const listening = { connectionString: databaseUrl, onConnectionError };
  const connection = connectPool({ pool: backgroundPool, run, ...listening });
  const stores = { db: toStore(pool, run), background: toStore(backgroundPool, run) };
  // The queue uses a pool beside its store, which then knows of nothing to end.
  const close = () => Promise.all([pool.close(), backgroundPool.close()]);
  return toDatabase({ ...stores, embedded: false, connection, poolUsage }, close);
}

function toStore(pool: Pool, run = createPreparing()): Store {
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool: toPreparedPool(pool, run) }) });
}

async function openPGlite(dataDir: string): Promise<Database> {
  const { pglite, unlock } = await openEmbedded(dataDir);
  const db = new Kysely<Tables>({ dialect: new PGliteDialect({ pglite }) });
  const connection = connectEmbedded(pglite);
  const parts = { db, background: db, embedded: true, connection, poolUsage: () => undefined };
  const database = toDatabase(parts, unlock);
  try {
    await migrateToLatest(db);
  } catch (error) {
    await database.close();
    throw error;
  }
  return database;
}

function toDatabase(parts: Omit<Database, "ping" | "close">, letGo: () => unknown): Database {
  const { db, background } = parts;
  let closing: Promise<void> | undefined;
  return {
    ...parts,
    async ping() {
      await sql`select 1`.execute(db);
    },
    close() {
      closing ??= Promise.all([db.destroy(), background.destroy()])
        .finally(letGo)
        .then(() => {});
      return closing;
    },
  };
}
