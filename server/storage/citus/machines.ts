import { setTimeout } from "node:timers/promises";
import { sql } from "kysely";
import type { Connection } from "../database/connection.ts";
import { type Database, PROBE, toDb, toPoolOptions } from "../database/database.ts";
import { createPool } from "../database/pool.ts";
import type { Db } from "../database/tables.ts";
import { isUnavailable } from "../database/unavailable.ts";
import { readShards, type Shard } from "./functions.ts";
import { createMachine, type Kind, type Machine, UnresponsiveError } from "./machine.ts";

/** Items whose rows are on one machine. */
export type Part<Item> = { readonly machine: Machine; readonly items: readonly Item[] };

/** The machines of a cluster that hold the rows of merchants. A server has connections of its own to each. */
export type Machines = {
  /** The shard with the rows of each merchant, as far as is known. */
  readonly shardOf: ReadonlyMap<string, number>;
  /**
   * The machine with the rows of a merchant.
   *
   * @throws UnresponsiveError at once, while that machine does not respond
   */
  machineOf(merchant: string, kind: Kind): Promise<Machine>;
  /** Divides items by their machines. */
  divide<Item extends { readonly merchant: string }>(
    items: readonly Item[],
    kind: Kind,
  ): Promise<Part<Item>[]>;
  /**
   * Runs work on each shard of every machine that responds, and returns the results of all.
   *
   * @throws when none of them responds
   */
  onShards<Result>(work: (shard: Db) => Promise<Result>): Promise<Result[]>;
  /** Listens on the coordinator and on every machine, on those that join later too. */
  listen: Connection["listen"];
  close(): Promise<void>;
};

/** How often a server looks whether machines have come, gone or got other shards, in milliseconds. */
const REFRESH_MS = 1_000;
/** Merchants whose shards a server remembers. */
const MAX_MERCHANTS = 100_000;

type Placement = { readonly shard: string; readonly host: string; readonly port: number };
type Listening = Parameters<Connection["listen"]>;

/** Connects to all machines. Where a shard is may be outdated: its old machine then passes statements on, or refuses them. */
export async function openMachines({ connection, options }: Database): Promise<Machines> {
  const { databaseUrl = "" } = options;
  const pools = toPoolOptions(options);
  const directoryPool = createPool(databaseUrl, { ...pools.db, ...PROBE });
  const directory = toDb(directoryPool);
  const closing = new AbortController();
  const machines = new Map<string, Machine>();
  const listenings = new Set<Listening>();
  const shardOf = new Map<string, number>();
  let urlOf = new Map<string, string>();
  let shards: readonly Shard[] = [];

  async function refresh(): Promise<void> {
    const { rows } = await sql<Placement>`
      select shardid::text as shard, nodename as host, nodeport as port
      from pg_dist_shard join pg_dist_placement using (shardid) join pg_dist_node using (groupid)
      where logicalrelid = 'payments'::regclass and noderole = 'primary' and isactive`.execute(directory);
    const known = new Set(shards.map(({ shard }) => shard));
    if (rows.some(({ shard }) => !known.has(shard))) shards = await readShards(directory);
    if (closing.signal.aborted) return;
    urlOf = new Map(rows.map((row) => [row.shard, toUrl(databaseUrl, row)]));
    for (const url of new Set(urlOf.values())) {
      const machine = machines.get(url) ?? add(url);
      machine.keep(shards.filter(({ shard }) => urlOf.get(shard) === url));
    }
    for (const [url, machine] of machines) {
      if ([...urlOf.values()].includes(url)) continue;
      machines.delete(url);
      machine.close().catch(() => {});
    }
  }

  function add(url: string): Machine {
    const machine = createMachine(url, { ...pools, onMoved: refresh });
    machines.set(url, machine);
    for (const listening of listenings) void machine.listen(...listening);
    return machine;
  }

  async function keepUp(): Promise<void> {
    const { signal } = closing;
    while (!signal.aborted) {
      // While the coordinator is away, all stay where they were.
      await setTimeout(REFRESH_MS, undefined, { ref: false, signal })
        .then(refresh)
        .catch(() => {});
    }
  }

  async function findShard(merchant: string): Promise<number> {
    const { rows } = await sql<{ shard: number }>`
      select get_shard_id_for_distribution_column('payments', ${merchant}::text) as shard`.execute(directory);
    const [{ shard } = { shard: 0 }] = rows;
    if (shardOf.size >= MAX_MERCHANTS) shardOf.clear();
    shardOf.set(merchant, shard);
    if (!urlOf.has(String(shard))) await refresh();
    return shard;
  }

  async function machineOf(merchant: string, kind: Kind): Promise<Machine> {
    const known = shardOf.get(merchant);
    const shard = known !== undefined && urlOf.has(String(known)) ? known : await findShard(merchant);
    const machine = machines.get(urlOf.get(String(shard)) ?? "");
    if (!machine?.responds(kind)) throw new UnresponsiveError();
    return machine;
  }

  await refresh();
  const kept = keepUp();
  return {
    shardOf,
    machineOf,
    async divide(items, kind) {
      const own = await Promise.all(items.map(({ merchant }) => machineOf(merchant, kind)));
      const parts = Map.groupBy(items.keys(), (index) => own[index] as Machine);
      return [...parts].map(([machine, indexes]) => ({
        machine,
        items: indexes.map((index) => items[index] as (typeof items)[number]),
      }));
    },
    async onShards<Result>(work: (shard: Db) => Promise<Result>) {
      const asked = [...machines.values()].filter((machine) => machine.responds("background"));
      const results = await Promise.allSettled(asked.map((machine) => machine.onShards(work)));
      const errors = results.flatMap((result) => (result.status === "rejected" ? [result.reason] : []));
      const wrong = errors.find((error) => !isUnavailable(error));
      if (wrong !== undefined) throw wrong;
      if (errors.length === asked.length) throw errors[0] ?? new UnresponsiveError();
      return results.flatMap((result) => (result.status === "fulfilled" ? result.value : []));
    },
    async listen(...listening) {
      const atCoordinator = await connection.listen(...listening);
      listenings.add(listening);
      await Promise.all([...machines.values()].map((machine) => machine.listen(...listening)));
      return {
        async close() {
          listenings.delete(listening);
          const ends = [...machines.values()].map((machine) => machine.unlisten(listening[1]));
          await Promise.all([atCoordinator.close(), ...ends]);
        },
      };
    },
    async close() {
      closing.abort();
      await kept;
      await Promise.all([directoryPool.close(), ...[...machines.values()].map((machine) => machine.close())]);
    },
  };
}

/** The same user, password, database and options as for the coordinator. */
function toUrl(databaseUrl: string, { host, port }: Placement): string {
  const url = new URL(databaseUrl);
  url.hostname = host.includes(":") ? `[${host}]` : host;
  url.port = String(port);
  for (const name of ["host", "port"]) url.searchParams.delete(name);
  return url.href;
}

/** The results of several shards in one order. */
export function inOrder<Item>(items: readonly Item[], keyOf: (item: Item) => string): Item[] {
  return items.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
}
