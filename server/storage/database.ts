import { Kysely, PGliteDialect, PostgresDialect } from "kysely";
import { inStatementSpan } from "../observability/tracing.ts";
import { CITUS_SETTINGS, onMachine, readWhetherDistributed } from "./citus/citus.ts";
import { installFunctions } from "./citus/functions.ts";
import { type Machines, openMachines } from "./citus/machines.ts";
import { withMachines } from "./citus/placement.ts";
import { type Connection, connectEmbedded, connectPool } from "./database/connection.ts";
import { openEmbedded } from "./database/embedded.ts";
import { type Migrations, migrateBesideOthers, migrateToLatest } from "./database/migrations.ts";
import {
  createPool,
  createPreparedRunner,
  type Pool,
  type RunStatement,
  refuseTransactionPooling,
  toPreparedPool,
} from "./database/pool.ts";
import { toPreparedPGlite } from "./database/prepared-embedded.ts";
import { explainStartError } from "./database/start-error.ts";
import type { Store, Tables } from "./database/tables.ts";
import { createWriteCheck } from "./database/write-check.ts";
import { postgres } from "./postgres/postgres.ts";
import { type Statements, withStatements } from "./statements/statements.ts";

/** How the connections of a pool are used. */
export type PoolUsage = {
  readonly inUse: number;
  readonly idle: number;
  /** Requests that wait for a connection. */
  readonly waiting: number;
};

/** The open store. Inside `db.transaction()` use only the transaction: the embedded store has a single connection. */
export type Database = {
  readonly db: Store;
  /** The same store for work that no caller waits for or that may change many rows, with its own connections and time limits. */
  readonly background: Store;
  /** Whether this is the store in DATA_DIR, which no other process can use. */
  readonly embedded: boolean;
  /** The same store for text and notifications. Waits for transactions when embedded. */
  readonly connection: Connection;
  /** Resolves when the database responds; otherwise rejects with the driver's error. */
  ping(): Promise<void>;
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
  /**
   * For a statement, including its wait for locks. When the database does not respond at all, the statement fails one second
   * later.
   */
  readonly statementMs: number;
  /** The same for statements of `background`. */
  readonly backgroundMs: number;
};

const LIMITS: StoreLimits = { connectMs: 4_000, statementMs: 4_000, backgroundMs: 30_000 };

/** Enough for dispatches, scans for due refunds, retention and metrics, which run at the same time. */
const BACKGROUND_CONNECTIONS = 6;

/** One connection for readiness probes, which wait no longer than their sender. */
const PROBE = { size: 1, connectMs: 1_500, statementMs: 1_500 };

const READ_TIME = "select clock_timestamp() as now";

function toTime([row]: readonly unknown[]): Date {
  return (row as { now: Date }).now; // the one row of the statement above
}

export type DatabaseOptions = {
  /** `postgres://…`; the store is embedded when absent. */
  readonly databaseUrl?: string | undefined;
  /** Folder of the embedded store; created when missing. */
  readonly dataDir: string;
  /** Called when an idle connection breaks; the pool replaces it. */
  readonly onConnectionError?: ((error: Error) => void) | undefined;
  /** Called with the reason when a check finds that writes are refused, and without one when they no longer are. */
  readonly onWritesChange?: ((reason: unknown) => void) | undefined;
  readonly limits?: Partial<StoreLimits> | undefined;
  /** Those of this release when undefined; tests add later ones. */
  readonly migrations?: Migrations | undefined;
};

/**
 * Opens the store and brings its tables to the latest form.
 *
 * @throws DataDirLockedError when another process uses the folder of the embedded store
 * @throws StoreStartError when it is damaged, of another release, or refuses this server
 * @throws ConfigError when a pooler before PostgreSQL takes connections away between transactions
 */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const { databaseUrl } = options;
  try {
    if (databaseUrl === undefined) return await openPGlite(options);
    const distributed = await migratePostgres(databaseUrl, options.migrations);
    return openPostgres(
      databaseUrl,
      options,
      distributed ? await connectMachines(databaseUrl, options) : undefined,
    );
  } catch (error) {
    throw explainStartError(error);
  }
}

/**
 * Opens one connection to a PostgreSQL database as it is: nothing is migrated, and there may be no tables.
 *
 * @param limits as for `openDatabase`
 */
export function openUnmigrated(
  databaseUrl: string,
  limits: Pick<Partial<StoreLimits>, "statementMs">,
): AsyncDisposable & { readonly db: Store } {
  const db = toStore(createPool(databaseUrl, { size: 1, ...limits }), postgres);
  return { db, [Symbol.asyncDispose]: () => db.destroy() };
}

/**
 * Uses a pool without limits: a migration may take long, and so may the wait for another replica that migrates.
 *
 * @returns whether the tables are distributed
 */
async function migratePostgres(databaseUrl: string, migrations?: Migrations): Promise<boolean> {
  const pool = createPool(databaseUrl);
  const db = toStore(pool, postgres);
  try {
    await refuseTransactionPooling(pool);
    await migrateBesideOthers(db, migrations);
    const distributed = await readWhetherDistributed(db);
    if (distributed) await installFunctions(db);
    return distributed;
  } finally {
    await db.destroy();
  }
}

function connectMachines(databaseUrl: string, options: DatabaseOptions): Promise<Machines> {
  const { db, background } = toPoolOptions(options, CITUS_SETTINGS);
  const directory = createPool(databaseUrl, { ...db, ...PROBE });
  const openStore = (ofMachine: Pool, run: RunStatement, shardOf: Statements["shardOf"]) =>
    toStore(ofMachine, onMachine(shardOf), run);
  return openMachines({ databaseUrl, directory, db, background, openStore });
}

function toPoolOptions({ limits, onConnectionError }: DatabaseOptions, settings?: string) {
  const { connectMs, statementMs, backgroundMs } = { ...LIMITS, ...limits };
  const shared = { connectMs, onConnectionError, settings };
  const background = { ...shared, statementMs: backgroundMs, size: BACKGROUND_CONNECTIONS };
  return { db: { ...shared, statementMs }, background };
}

function openPostgres(databaseUrl: string, options: DatabaseOptions, machines?: Machines): Database {
  const { onConnectionError = () => {}, onWritesChange = () => {} } = options;
  const usage = toPoolOptions(options, machines && CITUS_SETTINGS);
  const pool = createPool(databaseUrl, usage.db);
  const backgroundPool = createPool(databaseUrl, usage.background);
  const prepared = createPreparedRunner();
  const run: RunStatement = (runner, text, values) =>
    inStatementSpan(text, () => prepared(runner, text, values)).catch((error: unknown) => {
      writes.note(error);
      throw error;
    });
  const poolUsage = () => {
    const { totalCount, idleCount: idle, waitingCount } = pool;
    // The pool also queues, until the next tick, what gets a connection that is idle, such as a scrape's own statements.
    return { inUse: totalCount - idle, idle, waiting: Math.max(0, waitingCount - idle) };
  };
  const listening = { connectionString: databaseUrl, onConnectionError };
  const connection = connectPool({ pool: backgroundPool, run, ...listening });
  const stores = {
    db: toStore(pool, machines ? withMachines(machines, "db") : postgres, run),
    background: toStore(backgroundPool, machines ? withMachines(machines, "background") : postgres, run),
  };
  const probePool = createPool(databaseUrl, { onConnectionError, ...PROBE });
  const readTime = async () => toTime((await probePool.query(READ_TIME)).rows);
  const writes = createWriteCheck({
    async run(text, { anew }) {
      if (anew) await Promise.all([pool, backgroundPool, probePool].map(endIdle));
      return [await probePool.query(text)].flat().at(-1)?.rows ?? [];
    },
    onChange: onWritesChange,
  });
  // The query builder would not end a pool that it has never used, because only text was run on it.
  const close = () => Promise.all([pool, backgroundPool, probePool, machines].map((one) => one?.close()));
  const checkWrites = writes.check;
  const parts = { ...stores, embedded: false, poolUsage, readTime, checkWrites };
  return toDatabase({ ...parts, connection: machines ? machines.join(connection) : connection }, close);
}

/** Ends the idle connections of a pool: those of a read-only time would stay read-only. */
async function endIdle(pool: Pool): Promise<void> {
  const end = async () => (await pool.connect()).release(true);
  await Promise.allSettled(Array.from({ length: pool.idleCount }, end));
}

function toStore(pool: Pool, statements: Statements, run = createPreparedRunner()): Store {
  const dialect = new PostgresDialect({ pool: toPreparedPool(pool, run) });
  return new Kysely<Tables>({ dialect: withStatements(dialect, statements) });
}

async function openPGlite({
  dataDir,
  migrations,
  onWritesChange = () => {},
}: DatabaseOptions): Promise<Database> {
  const { pglite, unlock } = await openEmbedded(dataDir);
  const connection = connectEmbedded(pglite);
  const run = async (text: string) => (await connection.executeSql(text)).rows;
  const writes = createWriteCheck({ run, onChange: onWritesChange });
  const dialect = new PGliteDialect({ pglite: toPreparedPGlite(pglite, writes.note) });
  const db = new Kysely<Tables>({ dialect: withStatements(dialect, postgres) });
  const readTime = async () => toTime((await connection.executeSql(READ_TIME)).rows);
  const stores = { db, background: db, embedded: true, connection };
  const parts = { ...stores, poolUsage: () => undefined, readTime, checkWrites: writes.check };
  const database = toDatabase(parts, unlock);
  try {
    await migrateToLatest(db, migrations);
  } catch (error) {
    await database.close();
    throw error;
  }
  return database;
}

function toDatabase(parts: Omit<Database, "ping" | "close">, release: () => unknown): Database {
  const { db, background } = parts;
  let closing: Promise<void> | undefined;
  return {
    ...parts,
    async ping() {
      await parts.readTime();
    },
    close() {
      closing ??= Promise.all([db.destroy(), background.destroy()])
        .finally(release)
        .then(() => {});
      return closing;
    },
  };
}
