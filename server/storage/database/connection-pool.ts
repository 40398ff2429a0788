import type { Socket } from "node:net";
import type { PostgresPool } from "kysely";
import pg from "pg";
import { createSocket } from "../../async/shared-dns-lookup.ts";
import { ConfigError } from "../../config/environment.ts";
import { clientWith, type FindPassword } from "./changing-password.ts";
import { isReadOnly, isSilence } from "./database-errors.ts";
import { FEW_CONNECTIONS, StoreStartError } from "./start-error.ts";

/**
 * A pool of connections to a PostgreSQL server. It returns bigint columns as numbers, as the embedded store does:
 * amounts and offsets are far below 2^53.
 */
export function createPool(databaseUrl: string, options: PoolOptions = {}): Pool {
  const { size, connectMs, statementMs, settings, findPassword, maxUses, onConnectionError } = {
    ...DEFAULTS,
    ...options,
  };
  const sockets = new Set<Socket>();
  const pool = new pg.Pool({
    connectionString: databaseUrl,
    Client: clientWith(findPassword),
    ...(maxUses !== undefined && { maxUses }),
    max: size,
    connectionTimeoutMillis: connectMs,
    keepAlive: true,
    types: { getTypeParser: toTypeParser },
    stream: () => {
      const socket = createSocket();
      sockets.add(socket);
      return socket.once("close", () => sockets.delete(socket));
    },
    ...(statementMs !== undefined && { query_timeout: statementMs + SILENCE_MS }),
    onConnect: (client) => client.query([toSessionSettings(statementMs), settings].join(";")),
  });
  // Without a listener a restart of the server would end this process.
  pool.on("error", (error) => onConnectionError?.(error));
  // The pool handles errors of idle connections only. A connection that is lost in a transaction, between two statements,
  // would end the process as well; the next statement on it fails and reports the error.
  pool.on("connect", (client) => client.on("error", () => {}));
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  let closing: Promise<void> | undefined;
  const close = async () => {
    const timer = setTimeout(cut, CLOSE_MS);
    await pool.end();
    await Promise.all([...sockets].map((socket) => new Promise((resolve) => socket.once("close", resolve))));
    clearTimeout(timer);
  };
  return Object.assign(pool, { close: () => (closing ??= close()), cut });
}

export type PoolOptions = {
  readonly size?: number;
  /** Milliseconds to wait for a connection, whether all are in use or none can be opened. */
  readonly connectMs?: number;
  /** Milliseconds that a statement may take, including its wait for locks; no limit when absent. */
  readonly statementMs?: number | undefined;
  /** Statements that each connection makes first, besides those that all need. */
  readonly settings?: string | undefined;
  /** Where the password may change; undefined: it is that of the address. */
  readonly findPassword?: FindPassword | undefined;
  readonly maxUses?: number | undefined;
  /** Called when an idle connection breaks. */
  readonly onConnectionError?: ((error: Error) => void) | undefined;
};

export type Pool = pg.Pool & {
  /** Ends even when the database does not respond, and may be called again. */
  close(): Promise<void>;
  /** Cuts every connection; the statements under way fail at once, and later ones connect anew. */
  cut(): void;
};

const DEFAULTS = { size: 20, connectMs: 4_000, settings: "" };
/** PostgreSQL ends a statement that takes too long. If it has not done so this much later, it does not respond. */
const SILENCE_MS = 1_000;
/** An idle transaction belongs to a process that was paused, and may hold locks for which others wait. */
const IDLE_IN_TRANSACTION_MS = 10_000;
/** How long the connections have to end cleanly before they are cut. */
const CLOSE_MS = 800;

/**
 * The settings that each connection makes first. Sent while connecting, these settings would be dropped by a pooler; without
 * them, those of the database or of the role would hold, such as another isolation level, under which parallel refunds fail.
 */
function toSessionSettings(statementMs = 0): string {
  const idleMs = statementMs === 0 ? 0 : Math.max(statementMs, IDLE_IN_TRANSACTION_MS);
  return `
    set default_transaction_isolation = 'read committed';
    set statement_timeout = ${statementMs};
    set lock_timeout = 0;
    set idle_in_transaction_session_timeout = ${idleMs};
    set idle_session_timeout = 0;
    set datestyle = 'ISO, MDY';
    set timezone = 'UTC';
    set intervalstyle = 'postgres';
    set bytea_output = 'hex';
    set extra_float_digits = 1;
    set array_nulls = on;
    set transform_null_equals = off;
    set standard_conforming_strings = on;
    set row_security = on;
    set exit_on_error = off;
    select set_config('transaction_timeout', '0', false) where current_setting('transaction_timeout', true) <> '0'; -- since 17
    select set_config('synchronous_commit', 'on', false) where current_setting('synchronous_commit') = 'off'`;
}

/**
 * @throws ConfigError when a pooler gives each transaction another connection: settings, prepared statements and `LISTEN` belong
 *   to a connection, so none of them would hold
 */
export async function refuseTransactionPooling(pool: Pool): Promise<void> {
  const [first, second] = [await pool.connect(), await pool.connect()];
  try {
    const before = await readBackend(first);
    // Such a pooler gives the second client the connection that the first one has used, or gives the first client another
    // one afterwards.
    await second.query("begin");
    if ((await readBackend(second)) !== before && (await readBackend(first)) === before) return;
  } finally {
    await second.query("rollback");
    for (const client of [first, second]) client.release();
  }
  throw new ConfigError(
    "DATABASE_URL leads to a pooler that gives each transaction another connection, where time limits and LISTEN don't hold: set pool_mode = session in PgBouncer, or connect directly.",
  );
}

/** Of one server, besides those for calls: 6 for background work, 2 to listen and 2 for probes. */
const BESIDE_CALLS = 10;
const LEAST_FOR_CALLS = 2;

/**
 * How many connections calls may have: as many as usual, or what the limits of a small database leave of them.
 * @throws StoreStartError where they leave too few
 */
export async function countForCalls(pool: Pool): Promise<number> {
  const { rows } = await pool.query<{ most: number }>(`
    select least(
      (select nullif(rolconnlimit, -1) from pg_roles where rolname = session_user and not rolsuper),
      (select nullif(datconnlimit, -1) from pg_database where datname = current_database()),
      current_setting('max_connections')::integer - current_setting('superuser_reserved_connections')::integer) as most`);
  const left = (rows[0]?.most ?? 0) - BESIDE_CALLS;
  if (left < LEAST_FOR_CALLS) throw new StoreStartError(FEW_CONNECTIONS);
  return Math.min(left, DEFAULTS.size);
}

async function readBackend(client: pg.PoolClient): Promise<number | undefined> {
  const { rows } = await client.query<{ pid: number }>("select pg_backend_pid() as pid");
  return rows[0]?.pid;
}

function toTypeParser(oid: number, format?: "text" | "binary") {
  if (oid === pg.types.builtins.TIMESTAMPTZ) return toDate;
  return oid === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(oid, format);
}

/** A time that JavaScript doesn't have, such as infinity, becomes its last one: a command that can't print one row would print no other. */
function toDate(text: string): Date {
  const date = pg.types.getTypeParser(pg.types.builtins.TIMESTAMPTZ)(text);
  return date instanceof Date && !Number.isNaN(date.getTime()) ? date : new Date(8.64e15);
}

/**
 * The application has far fewer statements than this, but those that are built for a list differ with its length; beyond the
 * limit, statements stay unnamed.
 */
const MAX_NAMES = 500;

/** The error after a newer server has added a column to a table of which a statement reads every column. */
const STALE_PLAN = "cached plan must not change result type";

/** A connection, or a pool that chooses one for each statement. */
type Runner = Pick<pg.Pool | pg.PoolClient, "query">;
export type RunStatement = (
  runner: Runner,
  text: string,
  values: readonly unknown[],
) => Promise<pg.QueryResult>;

/**
 * Runs each statement under a name, so that PostgreSQL parses and plans it once on each connection. Otherwise that would be
 * most of the cost of a refund in the database.
 *
 * @param prefix of the names, so that no other runner on the same connections has the same
 */
export function createPreparedRunner(prefix = "s"): RunStatement {
  const names = new Map<string, string>();
  let made = 0;

  function nameOf(text: string): string | undefined {
    const known = names.get(text);
    if (known !== undefined || names.size >= MAX_NAMES) return known;
    made += 1;
    names.set(text, `${prefix}${made}`);
    return names.get(text);
  }

  return async (runner, text, values) => {
    const name = values.length > 0 ? nameOf(text) : undefined;
    // The driver runs several statements in one text only without a list of values, not even an empty one.
    if (name === undefined) return values.length > 0 ? runner.query(text, [...values]) : runner.query(text);
    try {
      return await runner.query({ name, text, values: [...values] });
    } catch (error) {
      // The next call prepares the statement again on every connection, under another name.
      if (error instanceof Error && error.message === STALE_PLAN) names.delete(text);
      throw error;
    }
  };
}

/** The pool as the query builder expects it, with every statement prepared. */
export function toPreparedPool(pool: Pool, run: RunStatement): PostgresPool {
  async function connect() {
    const client = await pool.connect();
    let released = false;
    const release = (destroy?: boolean) => {
      if (!released) client.release(destroy);
      released = true;
    };
    const query = (text: string, values: readonly unknown[]) =>
      run(client, text, values).catch((error: unknown) => {
        // The statement is still under way: the next user of the connection would wait for it, or read its result, and a rollback
        // would wait as long again. A read-only connection stays so when the database takes writes again.
        if (isSilence(error) || isReadOnly(error)) release(true);
        throw error;
      });
    return { release, query };
  }
  const prepared = { options: pool.options, connect, end: () => pool.close() };
  return prepared as unknown as PostgresPool; // without cursors, which this project does not use
}
