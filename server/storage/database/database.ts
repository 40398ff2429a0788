import { Kysely, type LogEvent, PGliteDialect, PostgresAdapter, PostgresDialect } from "kysely";
import { type FindPassword, findPasswordIn } from "./changing-password.ts";
import {
  countForCalls,
  createPool,
  createPreparedRunner,
  type Pool,
  type PoolOptions,
  type RunStatement,
  refuseTransactionPooling,
  toPreparedPool,
} from "./connection-pool.ts";
import type { Db, Tables } from "./db-types.ts";
import { openEmbedded, watchFolder } from "./embedded-postgres.ts";
import { type Connection, listenOnPostgres } from "./listen-notify.ts";
import { type Migrations, migrateBesideOthers, migrateToLatest } from "./migrations.ts";
import { explainStartError } from "./start-error.ts";
import { createWriteCheck } from "./write-check.ts";

/**
 * Opens the database and brings its tables to the latest form.
 *
 * @throws DataDirError when the folder of the embedded store can't be used
 * @throws StoreStartError when it is damaged, of another release, or refuses this server
 * @throws ConfigError when a pooler before PostgreSQL takes connections away between transactions
 */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const { databaseUrl } = options;
  try {
    if (databaseUrl === undefined) return await openPGlite(options);
    const findPassword = options.readDatabaseUrls && findPasswordIn(options.readDatabaseUrls);
    const size = await migratePostgres(databaseUrl, { findPassword, ...options });
    return openPostgres(databaseUrl, { findPassword, ...options }, size);
  } catch (error) {
    throw explainStartError(error);
  }
}

/** How the connections of a pool are used; `waiting`: requests for one. */
export type PoolUsage = { readonly inUse: number; readonly idle: number; readonly waiting: number };

/** The open database. Inside `db.transaction()` use only the transaction: the embedded store has a single connection. */
export type Database = {
  readonly db: Db;
  /** The same for work that no caller waits for or that may change many rows, with its own connections and time limits. */
  readonly background: Db;
  /** Whether this is the store in DATA_DIR, which no other process can use. */
  readonly embedded: boolean;
  readonly options: DatabaseOptions;
  /** The same database for notifications. Waits for transactions when embedded. */
  readonly connection: Connection;
  /** Rejects while the database refuses every write: it is read-only, or its disk is full. */
  checkWrites(): Promise<void>;
  /** The database's clock. On PostgreSQL it has a connection of its own, so that calls that wait do not delay it. */
  readTime(): Promise<Date>;
  /** Undefined for the embedded store, which has one connection. */
  poolUsage(): PoolUsage | undefined;
  /** Ends all connections and unlocks the data folder. May be called again. */
  close(): Promise<void>;
};

/**
 * How long PostgreSQL may take, in milliseconds, before it counts as unavailable. Migrations and the embedded store have no
 * limits.
 */
export type StoreLimits = {
  /** For a connection, whether all are in use or none can be opened. */
  readonly connectMs: number;
  /** For a statement, including its wait for locks. Where the database does not respond at all, it fails one second later. */
  readonly statementMs: number;
  /** The same for statements of `background`. */
  readonly backgroundMs: number;
};

const LIMITS: StoreLimits = { connectMs: 4_000, statementMs: 4_000, backgroundMs: 30_000 };

/** Enough for dispatches, scans for due refunds, retention and metrics, which run at the same time. */
const BACKGROUND_CONNECTIONS = 6;

/** One connection for readiness probes, which wait no longer than their sender. */
export const PROBE = { size: 1, connectMs: 1_500, statementMs: 1_500 };

const READ_TIME = "select clock_timestamp() as now";

function toTime([row]: readonly unknown[]): Date {
  return (row as { now: Date }).now; // the one row of the statement above
}

export type DatabaseOptions = {
  /** `postgres://…`; the store is embedded when absent. */
  readonly databaseUrl?: string | undefined;
  /** Reads the addresses of the file from which it comes, when one password replaces another. */
  readonly readDatabaseUrls?: (() => readonly string[]) | undefined;
  /** Folder of the embedded store; created when missing. */
  readonly dataDir: string;
  /** Called when an idle connection breaks; the pool replaces it. */
  readonly onConnectionError?: ((error: Error) => void) | undefined;
  /** Called with the reason when a check finds that writes are refused, and without one when they no longer are. */
  readonly onWritesChange?: ((reason: unknown) => void) | undefined;
  readonly limits?: Partial<StoreLimits> | undefined;
  /** Statements that each connection makes first. */
  readonly settings?: string | undefined;
  /** Those of this release when undefined; tests add later ones. */
  readonly migrations?: Migrations | undefined;
};

/** With what finds the password of its pools. */
type OpenOptions = DatabaseOptions & { readonly findPassword?: FindPassword | undefined };

/** Opens one connection to a PostgreSQL database as it is: nothing is migrated, and there may be no tables. */
export function openUnmigrated(
  databaseUrl: string,
  limits: Pick<Partial<StoreLimits>, "statementMs">,
): AsyncDisposable & { readonly db: Db } {
  const db = toDb(createPool(databaseUrl, { size: 1, ...limits }));
  return { db, [Symbol.asyncDispose]: () => db.destroy() };
}

/**
 * Uses a pool without limits: a migration may take long, and so may the wait for another replica that migrates.
 * @returns how many connections calls may have
 */
async function migratePostgres(
  databaseUrl: string,
  { findPassword, migrations }: OpenOptions,
): Promise<number> {
  const pool = createPool(databaseUrl, { findPassword });
  const db = toDb(pool);
  try {
    await refuseTransactionPooling(pool);
    const forCalls = await countForCalls(pool);
    await migrateBesideOthers(db, migrations);
    return forCalls;
  } finally {
    await db.destroy();
  }
}

/** The limits of connections for calls, and of those for background work. */
export function toPoolOptions(options: OpenOptions): Readonly<Record<"db" | "background", PoolOptions>> {
  const { limits, settings, findPassword, onConnectionError } = options;
  const { connectMs, statementMs, backgroundMs } = { ...LIMITS, ...limits };
  const shared = { connectMs, onConnectionError, settings, findPassword };
  return {
    db: { ...shared, statementMs },
    background: { ...shared, statementMs: backgroundMs, size: BACKGROUND_CONNECTIONS },
  };
}

function openPostgres(databaseUrl: string, options: OpenOptions, size: number): Database {
  const { findPassword, onConnectionError = () => {}, onWritesChange = () => {} } = options;
  const usage = toPoolOptions(options);
  const pool = createPool(databaseUrl, { ...usage.db, size });
  const backgroundPool = createPool(databaseUrl, usage.background);
  const prepared = createPreparedRunner();
  const run: RunStatement = (runner, text, values) =>
    prepared(runner, text, values).catch((error: unknown) => {
      writes.note(error);
      throw error;
    });
  const poolUsage = () => {
    const { totalCount, idleCount: idle, waitingCount } = pool;
    // The pool also queues, until the next tick, what gets a connection that is idle, such as a scrape's own statements.
    return { inUse: totalCount - idle, idle, waiting: Math.max(0, waitingCount - idle) };
  };
  const probePool = createPool(databaseUrl, { findPassword, onConnectionError, ...PROBE });
  // Each check connects anew, because a call would have to: open connections outlive a changed password, or a lack of connections.
  const entryPool = createPool(databaseUrl, { findPassword, onConnectionError, ...PROBE, maxUses: 1 });
  const pools = [pool, backgroundPool, probePool, entryPool];
  const writes = createWriteCheck({
    async run(text, { anew }) {
      if (anew) await Promise.all(pools.map(endIdle));
      return [await entryPool.query(text)].flat().at(-1)?.rows ?? [];
    },
    onChange: onWritesChange,
  });
  const parts = {
    db: toDb(pool, run),
    background: toDb(backgroundPool, run),
    embedded: false,
    options,
    connection: {
      listen: (...listening: Parameters<Connection["listen"]>) =>
        listenOnPostgres(databaseUrl, { findPassword, onConnectionError }, listening),
    },
    poolUsage,
    readTime: async () => toTime((await probePool.query(READ_TIME)).rows),
    checkWrites: writes.check,
  };
  // The query builder would not end a pool that it has never used, because only text was run on it.
  return toDatabase(parts, () => Promise.all(pools.map((one) => one.close())));
}

/** Ends the idle connections of a pool: those of a read-only time would stay read-only. */
async function endIdle(pool: Pool): Promise<void> {
  const end = async () => (await pool.connect()).release(true);
  await Promise.allSettled(Array.from({ length: pool.idleCount }, end));
}

/** Without the library's own lock for migrations, of a number that any role could lock: ours comes before. */
class Adapter extends PostgresAdapter {
  override async acquireMigrationLock() {}
}

class Dialect extends PostgresDialect {
  override createAdapter() {
    return new Adapter();
  }
}

/** The connections of a pool as storage functions take them. */
export function toDb(pool: Pool, run = createPreparedRunner()): Db {
  return new Kysely<Tables>({ dialect: new Dialect({ pool: toPreparedPool(pool, run) }) });
}

async function openPGlite(options: DatabaseOptions): Promise<Database> {
  const { dataDir, migrations, onWritesChange = () => {} } = options;
  const { pglite, unlock } = await openEmbedded(dataDir);
  // An error may have begun in a transaction, in which every later statement would fail.
  const run = async (text: string) => {
    const results = await pglite.exec(text).catch(async (error: unknown) => {
      await pglite.exec("rollback");
      throw error;
    });
    return results.flatMap(({ rows }) => rows);
  };
  const connection: Connection = {
    async listen(channel, onNotification, onListening) {
      const stop = await pglite.listen(channel, onNotification);
      onListening();
      return { close: () => stop() };
    },
  };
  const writes = createWriteCheck({ run, onChange: onWritesChange });
  const log = (event: LogEvent) => {
    if (event.level === "error") writes.note(event.error);
  };
  const db = new Kysely<Tables>({ dialect: new PGliteDialect({ pglite }), log });
  const stopWatching = watchFolder(dataDir, (error) => {
    // Every later statement fails, so that no call is acknowledged that would be lost.
    const report = () => onWritesChange(error);
    pglite.close().then(report, report);
  });
  const parts = {
    ...{ db, background: db, embedded: true, options, connection },
    poolUsage: () => undefined,
    readTime: async () => toTime(await run(READ_TIME)),
    checkWrites: writes.check,
  };
  const database = toDatabase(parts, () => {
    stopWatching();
    return unlock();
  });
  try {
    await migrateToLatest(db, migrations);
  } catch (error) {
    await database.close();
    throw error;
  }
  return database;
}

function toDatabase(parts: Omit<Database, "close">, release: () => unknown): Database {
  const { db, background } = parts;
  let closing: Promise<void> | undefined;
  return {
    ...parts,
    close() {
      closing ??= Promise.all([db.destroy(), background.destroy()])
        .finally(release)
        .then(() => {});
      return closing;
    },
  };
}
