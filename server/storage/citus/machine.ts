import { setTimeout } from "node:timers/promises";
import pg from "pg";
import { type Connection, listenOnPostgres } from "../database/connection.ts";
import { toDb } from "../database/database.ts";
import { createPool, createPreparedRunner, type PoolOptions, type RunStatement } from "../database/pool.ts";
import type { Db } from "../database/tables.ts";
import { isStatementTimeout } from "../database/unavailable.ts";
import { hasMoved, nameTables, type Shard } from "./functions.ts";

/** For calls, and for background work. */
export type Kind = "db" | "background";

/** A machine of a cluster, as a server sees it. */
export type Machine = {
  readonly url: string;
  readonly db: Db;
  readonly background: Db;
  /** Whether it has responded lately, as each kind of work needs it. */
  responds(kind: Kind): boolean;
  /** Its shards from now on. */
  keep(shards: readonly Shard[]): void;
  /** Runs work on each of its shards, whose tables have their own names, and leaves out those that have gone. */
  onShards<Result>(work: (shard: Db) => Promise<Result>): Promise<Result[]>;
  listen(...listening: Parameters<Connection["listen"]>): Promise<void>;
  /** Ends what was begun with this function. */
  unlisten(onNotification: (payload: string) => void): Promise<void>;
  close(): Promise<void>;
};

export type MachineParts = Readonly<Record<Kind, PoolOptions>> & {
  /** Called after a statement has found that its rows are no longer here. */
  readonly onMoved: () => Promise<void>;
};

/** The machine with the rows of a merchant does not respond. Others do. */
export class UnresponsiveError extends Error {
  override readonly name = "UnresponsiveError";
  /** As of a connection that has failed, so callers learn that the database is unavailable. */
  readonly code = "08006";

  constructor() {
    super("The machine with the rows of this merchant does not respond.");
  }
}

/** Connections of a server to each machine. One more is for `select 1`, and one more listens. */
const CONNECTIONS = { db: 10, background: 4, shards: 4 };
/** A plan is made once for each connection, for whatever values follow, and must fit when a small shard has grown. */
const SHARD_SETTINGS = "set plan_cache_mode = force_generic_plan; set enable_seqscan = off; set jit = off";
/** How long a statement on a shard may take: it looks only at rows that wait or are in progress. Milliseconds. */
const SHARD_MS = 5_000;
/** How often a machine is asked whether it responds, and how long it may take, in milliseconds. */
const PROBE_MS = 500;
const SILENCE_MS = 1_500;
/**
 * After so many probes without a response it counts as silent. Background work can wait, and the merchants of other machines
 * must not wait for it; a call would fail.
 */
const MISSES = { background: 1, db: 2 };
/** After a shard has left, its tables go, too. */
const NO_SUCH_TABLE = "42P01";

/**
 * Connects when it is needed. By `select 1` on a connection of its own it notices a machine that does not respond, be it
 * silent or gone: then the statements under way are cut, so that nobody waits for their results, and the next ones are refused
 * until the machine responds again. As long as it responds to other statements, it is only slow.
 */
export function createMachine(url: string, { db, background, onMoved }: MachineParts): Machine {
  const shardPool = createPool(url, {
    ...background,
    size: CONNECTIONS.shards,
    connectMs: SILENCE_MS,
    statementMs: SHARD_MS,
    settings: SHARD_SETTINGS,
  });
  const callPool = createPool(url, { ...db, size: CONNECTIONS.db });
  // A statement that waits for a connection when the machine becomes silent is not cut.
  const backgroundPool = createPool(url, {
    ...background,
    size: CONNECTIONS.background,
    connectMs: SILENCE_MS,
  });
  const probe = createPool(url, { size: 1, connectMs: SILENCE_MS, statementMs: SILENCE_MS - 1_000 });
  const listeners = new Map<(payload: string) => void, ReturnType<Connection["listen"]>>();
  const closing = new AbortController();
  let shards = new Map<string, Db>();
  let misses = 0;
  let heardMs = performance.now();

  function createRunner(prepared: RunStatement): RunStatement {
    return async (runner, text, values) => {
      const running = prepared(runner, text, values);
      const result = await running.catch(async (error: unknown) => {
        if (hasMoved(error)) await onMoved().catch(() => {});
        throw error;
      });
      heardMs = performance.now();
      return result;
    };
  }

  function toShardDb({ shard, tables }: Shard): Db {
    const run = createRunner(createPreparedRunner(`q${shard}_`));
    return toDb(shardPool, (runner, text, values) => run(runner, nameTables(text, tables), values));
  }

  async function watch(): Promise<void> {
    const { signal } = closing;
    while (!signal.aborted) {
      const startedMs = performance.now();
      // A machine that took too long has responded.
      const responded = await probe.query("select 1").then(() => true, isStatementTimeout);
      // After a pause of this process itself, everything that it waited for is late.
      const isLate = performance.now() - startedMs > 2 * SILENCE_MS;
      const isGone = performance.now() - startedMs < SILENCE_MS / 2;
      if (responded) misses = 0;
      else if (!isLate && heardMs <= startedMs) miss(isGone ? MISSES.db : misses + 1);
      await setTimeout(PROBE_MS, undefined, { ref: false, signal }).catch(() => {});
    }
  }

  function miss(count: number): void {
    if (misses < MISSES.background) for (const pool of [backgroundPool, shardPool]) pool.cut();
    if (misses < MISSES.db && count >= MISSES.db) callPool.cut();
    misses = count;
  }

  const watching = watch();
  const run = createRunner(createPreparedRunner());
  return {
    url,
    db: toDb(callPool, run),
    background: toDb(backgroundPool, run),
    responds: (kind) => misses < MISSES[kind],
    keep(present) {
      shards = new Map(present.map((one) => [one.shard, shards.get(one.shard) ?? toShardDb(one)]));
    },
    async onShards<Result>(work: (shard: Db) => Promise<Result>) {
      const results = [...shards.values()].map((shard) =>
        work(shard).then(
          (result) => [result],
          (error: unknown) => {
            if (error instanceof pg.DatabaseError && error.code === NO_SUCH_TABLE) return [];
            throw error;
          },
        ),
      );
      return (await Promise.all(results)).flat();
    },
    async listen(channel, onNotification, onListening) {
      const { onConnectionError = () => {} } = db;
      const options = { connectionString: url, channel, onNotification, onListening, onConnectionError };
      const listening = listenOnPostgres(options);
      listeners.set(onNotification, listening);
      await listening;
    },
    async unlisten(onNotification) {
      const listening = listeners.get(onNotification);
      listeners.delete(onNotification);
      await (await listening)?.close();
    },
    async close() {
      closing.abort();
      await watching;
      await Promise.all([...listeners.values()].map(async (listening) => (await listening).close()));
      await Promise.all([callPool, backgroundPool, shardPool, probe].map((pool) => pool.close()));
    },
  };
}
