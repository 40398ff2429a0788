/** A Citus cluster with servers as in production, for the tests in this folder. */
import { expect } from "vitest";
import { openDatabase } from "../../../server/storage/database/database.ts";
import {
  type Cluster,
  type ClusterOptions,
  createDistributed,
  findWorkerOf,
  requireCitus,
  startCluster,
} from "../../helpers/cluster.ts";
import { createMerchant } from "../../helpers/factories.ts";
import type { Receiver, Responder } from "../../helpers/receiver.ts";
import { spawnServer } from "../../helpers/server.ts";
import { type Figures, record } from "../faults/setup/figures.ts";
import { postgresEnv } from "../faults/setup/lasting-store.ts";
import { type CallOptions, callUntil, type Ledger } from "../faults/setup/load.ts";
import { countLosses, repeatUnknown } from "../faults/setup/losses.ts";
import { createBusiness } from "../faults/setup/trial.ts";

export type Servers = Awaited<ReturnType<typeof startServers>>;

/** Servers on distributed tables of a cluster. */
export type Deployment = Servers & { readonly cluster: Cluster; readonly databaseUrl: string };

/** A merchant with callers of its own, and the worker that has its rows. */
export type Business = {
  readonly ledger: Ledger;
  readonly receiver: Receiver;
  readonly merchant: string;
  /** The worker's port. */
  readonly worker: number;
};

/** Callers of each merchant at the same time. */
const CALLERS = 2;

export async function startDeployment(options: Partial<ClusterOptions> = {}): Promise<Deployment> {
  await using started = new AsyncDisposableStack();
  const cluster = started.use(await startCluster({ programs: requireCitus(), ...options }));
  const databaseUrl = await createDistributed(cluster, "refunds");
  const servers = started.use(await startServers(databaseUrl));
  const all = started.move();
  return { ...servers, cluster, databaseUrl, [Symbol.asyncDispose]: () => all.disposeAsync() };
}

/** Three servers, and their database as a test sees it. */
export async function startServers(
  databaseUrl: string,
  store: Readonly<Record<string, string>> = postgresEnv(databaseUrl),
) {
  const database = await openDatabase({ databaseUrl, dataDir: "unused" });
  const env = { LOG_LEVEL: "silent", RATE_LIMIT: "off", ...store };
  const start = () => spawnServer({ dataDir: "unused", env });
  const servers = [await start(), await start(), await start()] as const;
  return {
    database,
    servers,
    async [Symbol.asyncDispose]() {
      for (const server of servers) await server[Symbol.asyncDispose]();
      await database.close();
    },
  };
}

/** Creates merchants until each worker has the rows of so many. */
export async function createBusinesses(
  { database, databaseUrl, servers, cluster }: Deployment,
  perWorker: number,
  respond?: (worker: number) => Responder,
): Promise<Business[]> {
  const businesses: Business[] = [];
  while (businesses.length < perWorker * cluster.workers.length) {
    const { merchant, token } = await createMerchant({ database });
    const worker = await findWorkerOf(databaseUrl, merchant);
    if (businesses.filter((business) => business.worker === worker).length >= perWorker) continue;
    const options = { token, respond: respond?.(worker) };
    businesses.push({ merchant, worker, ...(await createBusiness(servers[0], options)) });
  }
  return businesses;
}

/** Issues refunds for all merchants, by all servers in turn, until it is stopped. */
export function startLoad(
  { servers }: Deployment,
  businesses: readonly Business[],
  optionsFor: (business: Business) => Partial<CallOptions> = () => ({}),
): { stop(): Promise<void> } {
  let stopped = false;
  const options = { stopped: () => stopped, persistent: true, callers: CALLERS };
  const load = businesses.map((business, index) =>
    callUntil(servers[index % servers.length]?.url ?? "", business.ledger, {
      ...options,
      ...optionsFor(business),
    }),
  );
  return {
    async stop() {
      stopped = true;
      await Promise.all(load);
    },
  };
}

/** The counts of the callers of some merchants so far. */
export type Counts = Readonly<Record<"acknowledged" | "failed" | "delivered", number>>;

export function countCalls(businesses: readonly Business[]): Counts {
  const sum = (count: (business: Business) => number) =>
    businesses.reduce((total, business) => total + count(business), 0);
  return {
    acknowledged: sum(({ ledger }) => ledger.acknowledged.size),
    failed: sum(({ ledger }) => ledger.outcomes.refused + ledger.outcomes.lost),
    delivered: sum(({ receiver }) => receiver.received.length),
  };
}

/** What has been added between two counts. */
export function difference(before: Counts, after: Counts): Counts {
  return {
    acknowledged: after.acknowledged - before.acknowledged,
    failed: after.failed - before.failed,
    delivered: after.delivered - before.delivered,
  };
}

/** Repeats what got no useful response, records the figures, and asserts that nothing is lost or doubled. */
export async function conclude(
  fault: string,
  { servers: [server] }: Servers,
  businesses: readonly Business[],
  figures: Figures,
): Promise<void> {
  const found = { lost: [] as string[], doubled: [] as string[], wrong: [] as string[] };
  let cameThrough = 0;
  for (const { ledger, receiver } of businesses) {
    cameThrough += await repeatUnknown(server, ledger);
    const { lost, doubled } = await countLosses(server, ledger, receiver);
    found.lost.push(...lost);
    found.doubled.push(...doubled);
    found.wrong.push(...ledger.wrong);
    await receiver.close();
  }
  record(fault, {
    ...figures,
    "came through without a response": cameThrough,
    lost: found.lost.length,
    doubled: found.doubled.length,
  });
  expect(found).toEqual({ lost: [], doubled: [], wrong: [] });
}
