import { setTimeout } from "node:timers/promises";
import type { QueryResultRow } from "pg";
import type { Connection } from "../database/connection.ts";
import type { Pool, RunStatement } from "../database/pool.ts";
import type { Store } from "../database/tables.ts";
import { isUnavailable } from "../database/unavailable.ts";
import { DELIVERIES_CHANNEL } from "../statements/events.ts";
import type { Statements } from "../statements/statements.ts";
import { createMachine, type Machine, type MachineParts, UnresponsiveError } from "./machine.ts";
import type { Question } from "./questions.ts";

/** The machines of a cluster that hold the rows of merchants. A server has connections of its own to each. */
export type Machines = {
  /**
   * The store on the machine with the rows of a merchant.
   *
   * @throws UnresponsiveError at once, while that machine does not respond
   */
  storeOf(merchant: string, kind: keyof Machine["stores"]): Promise<Store>;
  /** Merchants with the same name are on the same machine, as far as is known. */
  nameOf(merchant: string): string;
  /**
   * Asks every machine that responds, and returns the rows of all.
   *
   * @throws when none of them responds
   */
  ask<Row>(question: Question): Promise<Row[]>;
  /** A connection to the coordinator that also listens on every machine, on those that join later too. */
  join(coordinator: Connection): Connection;
  close(): Promise<void>;
};

type Parts = Omit<MachineParts, "onMoved" | "openStore"> & {
  /** Leads to the coordinator. */
  readonly databaseUrl: string;
  /** A few connections to the coordinator, which knows where the rows of each merchant are. */
  readonly directory: Pool;
  readonly openStore: (pool: Pool, run: RunStatement, shardOf: Statements["shardOf"]) => Store;
};

/** How often a server looks whether machines have come, gone or got other shards, in milliseconds. */
const REFRESH_MS = 1_000;
/** Merchants whose shards a server remembers. */
const MAX_MERCHANTS = 100_000;

const PLACEMENTS = `
  select shardid as shard, groupid as "group", nodename as host, nodeport as port, current_database() as database
  from pg_dist_shard join pg_dist_placement using (shardid) join pg_dist_node using (groupid)
  where logicalrelid = 'payments'::regclass and noderole = 'primary' and isactive`;
const SHARD = "select get_shard_id_for_distribution_column('payments', $1::text) as shard";

type Placement = { shard: number; group: number } & Address;
type Address = { host: string; port: number; database: string };
type Listening = Parameters<Connection["listen"]>;

/** Connects to all machines. Where a shard is may be outdated: its old machine then passes statements on. */
export async function openMachines({
  databaseUrl,
  directory,
  openStore,
  ...parts
}: Parts): Promise<Machines> {
  const closing = new AbortController();
  const machines = new Map<string, Machine>();
  const listenings = new Set<Listening>();
  const shardOf = new Map<string, number>();
  let urlOf = new Map<number, string>();
  const openOwn = (pool: Pool, run: RunStatement) =>
    openStore(pool, run, (merchant) => shardOf.get(merchant));

  async function refresh(): Promise<void> {
    const { rows } = await directory.query<Placement & QueryResultRow>(PLACEMENTS);
    if (closing.signal.aborted) return;
    urlOf = new Map(rows.map((row) => [row.shard, toUrl(databaseUrl, row)]));
    const urls = new Set(urlOf.values());
    for (const url of urls) {
      if (machines.has(url)) continue;
      const machine = createMachine(url, { ...parts, openStore: openOwn, onMoved: refresh });
      machines.set(url, machine);
      for (const listening of listenings) void machine.listen(...listening);
    }
    for (const [url, machine] of machines) {
      if (urls.has(url)) continue;
      machines.delete(url);
      machine.close().catch(() => {});
    }
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
    const { rows } = await directory.query<{ shard: number }>(SHARD, [merchant]);
    const [{ shard } = { shard: 0 }] = rows;
    if (shardOf.size >= MAX_MERCHANTS) shardOf.clear();
    shardOf.set(merchant, shard);
    if (!urlOf.has(shard)) await refresh();
    return shard;
  }

  async function findStore(merchant: string, kind: keyof Machine["stores"]): Promise<Store> {
    const known = shardOf.get(merchant);
    const shard = known !== undefined && urlOf.has(known) ? known : await findShard(merchant);
    const machine = machines.get(urlOf.get(shard) ?? "");
    if (!machine?.responds(kind)) throw new UnresponsiveError();
    return machine.stores[kind];
  }

  await refresh();
  const kept = keepUp();
  return {
    storeOf: findStore,
    nameOf: (merchant) => urlOf.get(shardOf.get(merchant) ?? 0) ?? merchant,
    async ask<Row>(question: Question) {
      const asked = [...machines.values()].filter((machine) => machine.responds("background"));
      const results = await Promise.allSettled(asked.map((machine) => machine.ask<Row>(question)));
      const errors = results.flatMap((result) => (result.status === "rejected" ? [result.reason] : []));
      const wrong = errors.find((error) => !isUnavailable(error));
      if (wrong !== undefined) throw wrong;
      if (errors.length === asked.length) throw errors[0] ?? new UnresponsiveError();
      return results.flatMap((result) => (result.status === "fulfilled" ? result.value : []));
    },
    join: ({ executeSql, listen }) => ({
      executeSql,
      async listen(...listening) {
        const [channel, onNotification] = listening;
        const atCoordinator = await listen(...listening);
        // The other channels are about tables that only the coordinator has.
        if (channel !== DELIVERIES_CHANNEL) return atCoordinator;
        listenings.add(listening);
        await Promise.all([...machines.values()].map((machine) => machine.listen(...listening)));
        return {
          async close() {
            listenings.delete(listening);
            const ends = [...machines.values()].map((machine) => machine.unlisten(onNotification));
            await Promise.all([atCoordinator.close(), ...ends]);
          },
        };
      },
    }),
    async close() {
      closing.abort();
      await kept;
      await Promise.all([directory.close(), ...[...machines.values()].map((machine) => machine.close())]);
    },
  };
}

/** The same user, password and options as for the coordinator. */
function toUrl(databaseUrl: string, { host, port, database }: Address): string {
  const url = new URL(databaseUrl);
  url.hostname = host.includes(":") ? `[${host}]` : host;
  url.port = String(port);
  url.pathname = `/${encodeURIComponent(database)}`;
  for (const name of ["host", "port"]) url.searchParams.delete(name);
  return url.href;
}
