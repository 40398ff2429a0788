import { type RawBuilder, sql } from "kysely";
import type pg from "pg";
import { createSocket } from "../../async/shared-dns-lookup.ts";
import { clientWith } from "./changing-password.ts";
import type { PoolOptions } from "./connection-pool.ts";

/**
 * Notifies all servers when the transaction commits. Any role can fill the queue of notifications, and a commit with one would fail
 * then; servers also look by themselves each second.
 */
export function notify(channel: string, payload: Parameters<typeof sql>[1] = ""): RawBuilder<unknown> {
  return sql`case when (select pg_notification_queue_usage()) < 0.5 then pg_notify(${channel}::text, ${payload}::text) end`;
}

/** Listens to notifications. */
export type Connection = {
  /**
   * Listens on a channel until closed; reconnects when the connection is lost.
   * @param onListening called each time it begins to listen, because notifications before that may have been missed
   */
  listen(
    channel: string,
    onNotification: (payload: string) => void,
    onListening: () => void,
  ): Promise<{ close(): Promise<void> }>;
};

const MIN_PAUSE_MS = 100;
const MAX_PAUSE_MS = 5_000;
const HEARTBEAT_MS = 10_000;
/** How long the database may take to respond while a connection begins to listen, and at each heartbeat. */
const SILENCE_MS = 5_000;

/** Listens on a connection of its own, which a heartbeat finds lost also without an error. */
export async function listenOnPostgres(
  connectionString: string,
  { findPassword, onConnectionError }: Pick<PoolOptions, "findPassword" | "onConnectionError">,
  [channel, onNotification, onListening]: Parameters<Connection["listen"]>,
): Promise<{ close(): Promise<void> }> {
  let closed = false;
  let client: pg.Client | undefined;
  let disconnect = () => {};
  let timer: NodeJS.Timeout | undefined;
  let pauseMs = MIN_PAUSE_MS;

  async function connect(): Promise<void> {
    const socket = createSocket();
    const fresh = new (clientWith(findPassword))({
      stream: () => socket,
      connectionString,
      keepAlive: true,
      connectionTimeoutMillis: SILENCE_MS,
      query_timeout: SILENCE_MS,
    });
    client = fresh;
    // The driver's `end` would wait for a database that may not respond.
    disconnect = () => socket.destroy();
    fresh.on("error", (error) => lose(fresh, error));
    fresh.on("end", () => lose(fresh, new Error("the connection that listens has ended")));
    fresh.on("notification", (message) => onNotification(message.payload ?? ""));
    try {
      await fresh.connect();
      await fresh.query(`listen ${fresh.escapeIdentifier(channel)}`);
    } catch (error) {
      lose(fresh, error instanceof Error ? error : new Error(String(error)));
      return;
    }
    if (client !== fresh) return;
    pauseMs = MIN_PAUSE_MS;
    beat(fresh);
    onListening();
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
    onConnectionError?.(error);
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
