import { Socket } from "node:net";
import pg from "pg";

export type PoolOptions = {
  /** Connections at most. */
  readonly size?: number;
  /** Milliseconds to wait for a connection, whether none is free or none can be made. */
  readonly connectMs?: number;
  /** Milliseconds that a statement may take, waiting for locks included; without it, as long as it takes. */
  readonly statementMs?: number | undefined;
  /** Told of a connection that breaks while nobody uses it. */
  readonly onConnectionError?: ((error: Error) => void) | undefined;
};

/** The driver's pool, with an end that comes also when the server does not answer, and may be asked for again. */
export type Pool = pg.Pool & { close(): Promise<void> };

const DEFAULTS = { size: 20, connectMs: 4_000 };
/** The server ends a statement that takes too long. One that has not even done that so much later does not answer. */
const SILENCE_MS = 1_000;
/** A transaction in which nothing happens belongs to a process that has stopped, and may hold locks that others wait for. */
const IDLE_IN_TRANSACTION_MS = 10_000;
/** What a server that answers needs to end its connections. */
const CLOSE_MS = 800;

/**
 * A pool of connections to a PostgreSQL server. Amounts and offsets come as numbers: they are far below 2^53, and the
 * embedded store gives numbers too.
 */
export function createPool(databaseUrl: string, options: PoolOptions = {}): Pool {
  const { size, connectMs, statementMs, onConnectionError } = { ...DEFAULTS, ...options };
  const sockets = new Set<Socket>();
  const pool = new pg.Pool({
    connectionString: databaseUrl,
    max: size,
    connectionTimeoutMillis: connectMs,
    keepAlive: true,
    types: { getTypeParser: toTypeParser },
    stream: () => {
      const socket = new Socket();
      sockets.add(socket);
      return socket.once("close", () => sockets.delete(socket));
    },
    ...(statementMs !== undefined && {
      statement_timeout: statementMs,
      query_timeout: statementMs + SILENCE_MS,
      idle_in_transaction_session_timeout: Math.max(statementMs, IDLE_IN_TRANSACTION_MS),
    }),
  });
  // Without a listener a restart of the server would end this process.
  pool.on("error", (error) => onConnectionError?.(error));
  // The pool listens to idle connections only. One that is lost in a transaction, between two statements, would end the
  // process as well; the next statement on it fails and tells of it.
  pool.on("connect", (client) => client.on("error", () => {}));
  let closing: Promise<void> | undefined;
  const closeOnce = () => {
    closing ??= close(pool, sockets);
    return closing;
  };
  return Object.assign(pool, { close: closeOnce });
}

async function close(pool: pg.Pool, sockets: ReadonlySet<Socket>): Promise<void> {
  const cut = setTimeout(() => {
    for (const socket of sockets) socket.destroy();
  }, CLOSE_MS);
  await pool.end();
  await Promise.all([...sockets].map((socket) => new Promise((resolve) => socket.once("close", resolve))));
  clearTimeout(cut);
}

function toTypeParser(oid: number, format?: "text" | "binary") {
  return oid === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(oid, format);
}
