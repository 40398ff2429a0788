import pg from "pg";

const POOL_SIZE = 20;
/** Above this a caller is better told to come again than kept waiting. */
const CONNECT_TIMEOUT_MS = 5_000;

/**
 * A pool of connections to a PostgreSQL server. Amounts and offsets come as numbers: they are far below 2^53, and the
 * embedded store gives numbers too.
 */
export function createPool(databaseUrl: string, onConnectionError?: (error: Error) => void): pg.Pool {
  const pool = new pg.Pool({
    connectionString: databaseUrl,
    max: POOL_SIZE,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    types: { getTypeParser: toTypeParser },
  });
  // Without a listener a restart of the server would end this process.
  pool.on("error", (error) => onConnectionError?.(error));
  // The pool listens to idle connections only. One that is lost in a transaction, between two statements, would end the
  // process as well; the next statement on it fails and tells of it.
  pool.on("connect", (client) => client.on("error", () => {}));
  return pool;
}

function toTypeParser(oid: number, format?: "text" | "binary") {
  return oid === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(oid, format);
}
