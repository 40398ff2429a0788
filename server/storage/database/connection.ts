import type { PGlite } from "@electric-sql/pglite";
import pg from "pg";
import { createSocket } from "../../async/shared-lookup.ts";
import type { RunStatement } from "./pool.ts";

/** Runs statements as text, and listens to notifications, which the query builder can't do. */
export type Connection = {
  /** Runs one statement with values, or several statements without. */
  executeSql(text: string, values?: unknown[]): Promise<{ rows: unknown[] }>;
  /**
   * Listens on a channel until closed; reconnects when the connection is lost.
   *
   * @param onListening called each time it begins to listen, because notifications before that may have been missed
   */
  listen(
    channel: string,
    onNotification: (payload: string) => void,
    onListening: () => void,
  ): Promise<{ close(): Promise<void> }>;
};

/** The embedded store has only this connection, so statements wait for transactions to end. */
export function connectEmbedded(pglite: PGlite): Connection {
  return {
    async executeSql(text, values) {
      if (values && values.length > 0) return pglite.query(text, values);
      const results = await pglite.exec(text).catch(async (error: unknown) => {
        // It may have failed inside a transaction, which would make every later statement fail.
        await pglite.exec("rollback");
        throw error;
      });
      return { rows: results.flatMap((result) => result.rows) };
    },
    async listen(channel, onNotification, onListening) {
      const stop = await pglite.listen(channel, onNotification);
      onListening();
      return { close: () => stop() };
    },
  };
}

const MIN_PAUSE_MS = 100;
const MAX_PAUSE_MS = 5_000;
const HEARTBEAT_MS = 10_000;
/** How long the database may take to respond while a connection begins to listen, and at each heartbeat. */
const SILENCE_MS = 5_000;

type PoolParts = {
  pool: pg.Pool;
  run: RunStatement;
  connectionString: string;
  onConnectionError: (error: Error) => void;
};

/** Runs statements on a pool; each channel has a connection of its own besides. */
export function connectPool({ pool, run, connectionString, onConnectionError }: PoolParts): Connection {
  return {
    executeSql: async (text, values = []) => {
      // For several statements the driver returns a list of results, which its types do not declare.
      const results = [await run(pool, text, values)].flat();
      return { rows: results.flatMap((result) => result.rows) };
    },
    listen: (channel, onNotification, onListening) =>
      listenOnPostgres({ connectionString, channel, onNotification, onListening, onConnectionError }),
  };
}

type ListenOptions = {
  connectionString: string;
  channel: string;
  onNotification: (payload: string) => void;
  onListening: () => void;
  onConnectionError: (error: Error) => void;
};

/** Reconnects by itself. A heartbeat finds a connection that was lost without an error. */
export async function listenOnPostgres(options: ListenOptions): Promise<{ close(): Promise<void> }> {
  let closed = false;
  let client: pg.Client | undefined;
  let disconnect = () => {};
  let timer: NodeJS.Timeout | undefined;
  let pauseMs = MIN_PAUSE_MS;

  async function connect(): Promise<void> {
    const socket = createSocket();
    const fresh = new pg.Client({
      stream: () => socket,
      connectionString: options.connectionString,
      keepAlive: true,
      connectionTimeoutMillis: SILENCE_MS,
      query_timeout: SILENCE_MS,
    });
    client = fresh;
    // The driver's `end` would wait for a database that may not respond.
    disconnect = () => socket.destroy();
    fresh.on("error", (error) => lose(fresh, error));
    fresh.on("end", () => lose(fresh, new Error("the connection that listens has ended")));
    fresh.on("notification", (message) => options.onNotification(message.payload ?? ""));
    try {
      await fresh.connect();
      await fresh.query(`listen ${fresh.escapeIdentifier(options.channel)}`);
    } catch (error) {
      lose(fresh, error instanceof Error ? error : new Error(String(error)));
      return;
    }
    if (client !== fresh) return;
    pauseMs = MIN_PAUSE_MS;
    beat(fresh);
    options.onListening();
  }

  function beat(of: pg.Client): void {
    timer = setTimeout(async () => {
      await of.query("select 1").catch((error: Error) => lose(of, error));
      if (client === of) beat(of);
    }, HEARTBEAT_MS);
  }

  function lose(lost: pg.Client, error: Error): void {
    if (client !== lost) return;
    client = undefined;
    clearTimeout(timer);
    disconnect();
    if (closed) return;
    options.onConnectionError(error);
    timer = setTimeout(connect, pauseMs);
    pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS);
  }

  await connect();
  return {
    async close() {
      closed = true;
      clearTimeout(timer);
      client = undefined;
      disconnect();
    },
  };
}
