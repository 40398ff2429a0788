import { sql } from "kysely";
import pg from "pg";
import {
  createPool,
  createPreparedRunner,
  type PoolOptions,
  type RunStatement,
} from "../database/connection-pool.ts";
import { type Database, PROBE, toDb, toPoolOptions } from "../database/database.ts";
import { isStatementTimeout, isUnavailable } from "../database/database-errors.ts";
import type { Db } from "../database/db-types.ts";
import { type Connection, listenOnPostgres } from "../database/listen-notify.ts";
import { hasMoved, nameTables, readShards, type Shard } from "./shard-functions.ts";

/** Connects to all machines. Where a shard is may be outdated: its old machine then passes statements on, or refuses them. */
export async function openMachines({ connection, options }: Database) {
  const { databaseUrl = "" } = options;
  const pools = toPoolOptions(options);
  const directoryPool = createPool(databaseUrl, { ...pools.db, ...PROBE });
  const directory = toDb(directoryPool);
  const machines = new Map<string, Machine>();
  let listening: Listening | undefined;
  const shardOf = new Map<string, number>();
  let urlOf = new Map<string, string>();
  let shards: readonly Shard[] = [];
  let closed = false;

  async function refresh(): Promise<void> {
    const { rows } = await sql<Placement>`
      select shardid::text as shard, nodename as host, nodeport as port
      from pg_dist_shard join pg_dist_placement using (shardid) join pg_dist_node using (groupid)
      where logicalrelid = 'payments'::regclass and noderole = 'primary' and isactive`.execute(directory);
    const known = new Set(shards.map(({ shard }) => shard));
    if (rows.some(({ shard }) => !known.has(shard))) shards = await readShards(directory);
    if (closed) return;
    urlOf = new Map(rows.map((row) => [row.shard, toUrl(databaseUrl, row)]));
    const urls = new Set(urlOf.values());
    for (const url of urls) {
      const machine = machines.get(url) ?? createMachine(url, pools, refresh);
      if (!machines.has(url) && listening) machine.listen(listening).catch(() => {}); // it connects again by itself
      machines.set(url, machine);
      machine.keep(shards.filter(({ shard }) => urlOf.get(shard) === url));
    }
    for (const [url, machine] of machines) {
      if (urls.has(url)) continue;
      machines.delete(url);
      machine.close().catch(() => {});
    }
  }

  async function findShard(merchant: string) {
    const { rows } = await sql<{ shard: number }>`
      select get_shard_id_for_distribution_column('payments', ${merchant}::text) as shard`.execute(directory);
    const [{ shard } = { shard: 0 }] = rows;
    if (shardOf.size >= MAX_MERCHANTS) shardOf.clear();
    shardOf.set(merchant, shard);
    if (!urlOf.has(String(shard))) await refresh();
    return shard;
  }

  await refresh();
  // While the coordinator is away, all stay where they were.
  const stopRefreshing = repeatEvery(REFRESH_MS, refresh);
  return {
    /** The shard with the rows of each merchant, as far as is known. */
    shardOf: shardOf as ReadonlyMap<string, number>,
    /** The machine with the rows of a merchant. Rejects at once while that machine does not respond. */
    async machineOf(merchant: string, kind: Kind): Promise<Machine> {
      const known = shardOf.get(merchant);
      const shard = known !== undefined && urlOf.has(String(known)) ? known : await findShard(merchant);
      const machine = machines.get(urlOf.get(String(shard)) ?? "");
      if (!machine?.responds(kind)) throw unresponsive();
      return machine;
    },
    /** Runs work on each shard of every machine that responds. Rejects when none of them does. */
    async onShards<Row>(work: OnShard<Row>): Promise<Row[]> {
      const asked = [...machines.values()].filter((machine) => machine.responds("background"));
      const results = await Promise.allSettled(asked.map((machine) => machine.onShards(work)));
      const found = available(results);
      if (found.length === 0) throw unresponsive();
      return found.flat();
    },
    /** For one listener, also on machines that join later; there it ends when they are closed. */
    async listen(...listener: Listening) {
      listening = listener;
      const begun = [...machines.values()].map((machine) => machine.listen(listener));
      const [atCoordinator] = await Promise.all([connection.listen(...listener), ...begun]);
      return atCoordinator;
    },
    async close() {
      closed = true;
      await stopRefreshing();
      await Promise.all([directoryPool.close(), ...[...machines.values()].map((machine) => machine.close())]);
    },
  };
}

/** For calls, and for background work. */
export type Kind = "db" | "background";
type Pools = Record<Kind, PoolOptions>;
type OnShard<Row> = (shard: Db) => Promise<readonly Row[]>;
type Listening = Parameters<Connection["listen"]>;

/** A machine of a cluster, as a server sees it. */
export type Machine = ReturnType<typeof createMachine>;
/** The machines of a cluster that hold the rows of merchants. A server has connections of its own to each. */
export type Machines = Awaited<ReturnType<typeof openMachines>>;

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
/** How often a server looks whether machines have come, gone or got other shards, in milliseconds. */
const REFRESH_MS = 1_000;
/** Merchants whose shards a server remembers. */
const MAX_MERCHANTS = 100_000;

/** Its code is that of a connection that has failed, so that callers learn that the database is unavailable. */
const unresponsive = () =>
  Object.assign(new Error("The machine with the rows of this merchant does not respond."), { code: "08006" });

/** Repeats work, also after an error, until the function that it returns is called, which resolves when the last run has ended. */
function repeatEvery(ms: number, work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  const run = () => work().finally(() => (running = undefined));
  const timer = setInterval(() => (running ??= run().catch(() => {})), ms).unref();
  return async () => {
    clearInterval(timer);
    await running;
  };
}

/**
 * Connects when it is needed. By `select 1` on a connection of its own it notices a machine that does not respond, be it
 * silent or gone: then the statements under way are cut, so that nobody waits for their results, and the next ones are refused
 * until the machine responds again. As long as it responds to other statements, it is only slow.
 * @param onMoved called after a statement has found that its rows are no longer here
 */
function createMachine(url: string, { db, background }: Pools, onMoved: () => Promise<void>) {
  // When the machine becomes silent, statements under way are cut, but not those that wait for a connection: they wait for less.
  const hasty = { ...background, connectMs: SILENCE_MS };
  const callPool = createPool(url, { ...db, size: CONNECTIONS.db });
  const backgroundPool = createPool(url, { ...hasty, size: CONNECTIONS.background });
  const onShard = { size: CONNECTIONS.shards, statementMs: SHARD_MS, settings: SHARD_SETTINGS };
  const shardPool = createPool(url, { ...hasty, ...onShard });
  const probePool = createPool(url, { size: 1, connectMs: SILENCE_MS, statementMs: SILENCE_MS - 1_000 });
  let listener: ReturnType<Connection["listen"]> | undefined;
  let shards = new Map<string, Db>();
  let misses = 0;
  let heardMs = performance.now();

  function createRunner(prepared: RunStatement): RunStatement {
    return async (runner, text, values) => {
      const result = await prepared(runner, text, values).catch(async (error: unknown) => {
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

  async function probe(): Promise<void> {
    const startedMs = performance.now();
    // A machine that took too long has responded.
    const responded = await probePool.query("select 1").then(() => true, isStatementTimeout);
    // After a pause of this process itself, everything that it waited for is late.
    const isLate = performance.now() - startedMs > 2 * SILENCE_MS;
    const isGone = performance.now() - startedMs < SILENCE_MS / 2;
    if (responded) misses = 0;
    else if (!isLate && heardMs <= startedMs) miss(isGone ? MISSES.db : misses + 1);
  }

  function miss(count: number): void {
    if (misses < MISSES.background) for (const pool of [backgroundPool, shardPool]) pool.cut();
    if (misses < MISSES.db && count >= MISSES.db) callPool.cut();
    misses = count;
  }

  const stopProbing = repeatEvery(PROBE_MS, probe);
  const run = createRunner(createPreparedRunner());
  return {
    url,
    db: toDb(callPool, run),
    background: toDb(backgroundPool, run),
    /** Whether it has responded lately, as each kind of work needs it. */
    responds: (kind: Kind) => misses < MISSES[kind],
    /** Its shards from now on. */
    keep(present: readonly Shard[]) {
      shards = new Map(present.map((shard) => [shard.shard, shards.get(shard.shard) ?? toShardDb(shard)]));
    },
    /** Runs work on each of its shards, whose tables have their own names, and leaves out those that have gone. */
    async onShards<Row>(work: OnShard<Row>): Promise<Row[]> {
      const results = [...shards.values()].map((shard) =>
        work(shard).catch((error: unknown) => {
          if (error instanceof pg.DatabaseError && error.code === NO_SUCH_TABLE) return [];
          throw error;
        }),
      );
      return (await Promise.all(results)).flat();
    },
    listen(listening: Listening) {
      listener = listenOnPostgres(url, db, listening);
      return listener;
    },
    async close() {
      await stopProbing();
      await (await listener)?.close();
      await Promise.all([callPool, backgroundPool, shardPool, probePool].map((pool) => pool.close()));
    },
  };
}

type Placement = { readonly shard: string; readonly host: string; readonly port: number };

/** The same user, password, database and options as for the coordinator. */
function toUrl(databaseUrl: string, { host, port }: Placement): string {
  const url = new URL(databaseUrl);
  url.host = `${host.includes(":") ? `[${host}]` : host}:${port}`;
  for (const name of ["host", "port"]) url.searchParams.delete(name);
  return url.href;
}

/** The first rows of several shards, in the order of their keys. */
export function firstOf<Row>(rows: readonly Row[], keyOf: (row: Row) => string, limit?: number): Row[] {
  return rows.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1)).slice(0, limit);
}

/** The results of the calls that succeeded. Those that failed because a machine does not respond are left out. */
export function available<Result>(results: readonly PromiseSettledResult<Result>[]): Result[] {
  const wrong = results.find((result) => result.status === "rejected" && !isUnavailable(result.reason));
  if (wrong?.status === "rejected") throw wrong.reason;
  return results.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
}
