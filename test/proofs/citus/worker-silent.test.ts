import { setTimeout } from "node:timers/promises";
import { expect, test } from "vitest";
import { startSilentProxy } from "../../helpers/network/silent-database-proxy.ts";
import { portOf, query } from "../../helpers/postgres.ts";
import { accept, type Responder } from "../../helpers/receiver.ts";
import { record } from "../faults/setup/figures.ts";
import type { Outcome } from "../faults/setup/load.ts";
import { conclude, countCalls, createBusinesses, startDeployment, startLoad } from "./deployment.ts";

const MERCHANTS_PER_WORKER = 4;
/** Few enough calls that the machine has time for all of them, with and without those of the silent worker's merchants. */
const EVERY_MS = 400;
const BEFORE_MS = 20_000;
const SILENCE_MS = 40_000;
/** After the silence, all must be as before within this time; what follows is counted for as long. */
const RECOVERY_MS = 10_000;
/** The most connections of three servers to the coordinator, and some of the cluster itself. */
const MOST_CONNECTIONS = 3 * 32 + 20;

type Call = { readonly at: number; readonly ms: number; readonly outcome: Outcome };
type Delivery = { readonly at: number; readonly lagMs: number };

test("a silent worker, be it frozen or cut off, silences only its own merchants", async () => {
  let proxy: Awaited<ReturnType<typeof startSilentProxy>> | undefined;
  await using deployment = await startDeployment({
    durable: true,
    async reach(worker) {
      if (proxy) return portOf(worker);
      proxy = await startSilentProxy(worker.urlOf("postgres"));
      return Number(new URL(proxy.url).port);
    },
  });
  const { cluster, databaseUrl } = deployment;
  const [worker] = cluster.workers;
  if (!proxy || !worker) throw new Error("the cluster has no worker");
  await using cutProxy = proxy;
  const silentPort = Number(new URL(cutProxy.url).port);
  const calls = { hit: [] as Call[], others: [] as Call[] };
  const deliveries = { hit: [] as Delivery[], others: [] as Delivery[] };
  const sideOf = (port: number) => (port === silentPort ? "hit" : "others");
  const respondFor = (port: number): Responder => {
    const seen = new Set<string>();
    return (response, delivery, count) => {
      const at = Date.now();
      const first = !seen.has(delivery.webhookId);
      seen.add(delivery.webhookId);
      if (first) deliveries[sideOf(port)].push({ at, lagMs: at - Date.parse(delivery.event.timestamp) });
      accept(response, delivery, count);
    };
  };
  const businesses = await createBusinesses(deployment, MERCHANTS_PER_WORKER, respondFor);
  const load = startLoad(deployment, businesses, (business) => ({
    everyMs: EVERY_MS,
    onCall: (ms, outcome) => void calls[sideOf(business.worker)].push({ at: Date.now(), ms, outcome }),
  }));
  const kinds = {
    frozen: [() => worker.suspend(), () => worker.resume()],
    // What was on its way is lost, and connections end when the network is back.
    "cut off": [
      () => cutProxy.silence(),
      () => {
        cutProxy.speak();
        cutProxy.cut();
      },
    ],
  } as const;
  const expectations: (() => void)[] = [];

  for (const [kind, [silence, end]] of Object.entries(kinds)) {
    await setTimeout(BEFORE_MS);
    const startedAt = Date.now();
    silence();
    const connections = await watchConnections(databaseUrl, startedAt + SILENCE_MS);
    end();
    const endedAt = Date.now();
    await setTimeout(2 * RECOVERY_MS);
    const periods = {
      before: [startedAt - BEFORE_MS, startedAt],
      meanwhile: [startedAt, endedAt],
      after: [endedAt + RECOVERY_MS, endedAt + 2 * RECOVERY_MS],
    } as const;
    const during = <One extends { at: number }>(list: readonly One[], period: keyof typeof periods) =>
      list.filter(({ at }) => at >= periods[period][0] && at < periods[period][1]);
    const [before, meanwhile, after] = (["before", "meanwhile", "after"] as const).map((period) => ({
      hit: countOutcomes(during(calls.hit, period)),
      others: countOutcomes(during(calls.others, period)),
      p99: percentile99(during(calls.others, period).map(({ ms }) => ms)),
      lag: percentile99(during(deliveries.others, period).map(({ lagMs }) => lagMs)),
      delivered: during(deliveries.others, period).length,
    }));
    if (!before || !meanwhile || !after) throw new Error("a period is missing");
    record(`a worker ${kind} for ${SILENCE_MS / 1000} s`, {
      "calls of the others before": before.others.served,
      "failed calls of the others before": before.others.failed,
      "ms for 99 % of them": before.p99,
      "calls of the others meanwhile": meanwhile.others.served,
      "ms for 99 % of these": meanwhile.p99,
      "failed calls of the others": meanwhile.others.failed,
      "ms from event to first attempt for 99 % before": before.lag,
      "ms meanwhile": meanwhile.lag,
      "delivered to the others meanwhile": meanwhile.delivered,
      "failed calls of its merchants": meanwhile.hit.failed,
      "failed calls 10 s later": after.hit.failed + after.others.failed,
      "connections to the coordinator": connections,
    });
    expectations.push(() => {
      expect(meanwhile.hit.served).toBeLessThan(meanwhile.hit.failed);
      expect(meanwhile.others.failed).toBe(0);
      expect(meanwhile.p99).toBeLessThanOrEqual(2 * before.p99);
      expect(meanwhile.delivered).toBeGreaterThan(0);
      expect(meanwhile.lag).toBeLessThanOrEqual(3_000);
      expect(connections).toBeLessThanOrEqual(MOST_CONNECTIONS);
      expect(after.hit.served).toBeGreaterThan(0);
      expect(after.hit.failed + after.others.failed).toBe(0);
      expect(after.lag).toBeLessThanOrEqual(3_000);
    });
  }

  await load.stop();
  const { acknowledged } = countCalls(businesses);
  await conclude("a worker silent twice", deployment, businesses, { acknowledged });
  for (const expectation of expectations) expectation();
});

/** The most sessions that the coordinator has until a time. */
async function watchConnections(databaseUrl: string, until: number): Promise<number> {
  let most = 0;
  while (Date.now() < until) {
    const [row] = await query<{ count: number }>(
      databaseUrl,
      `select count(*)::integer as count from pg_stat_activity
       where datname = current_database() and backend_type = 'client backend'`,
    );
    most = Math.max(most, row?.count ?? 0);
    await setTimeout(Math.min(1_000, Math.max(0, until - Date.now())));
  }
  return most;
}

function countOutcomes(calls: readonly Call[]) {
  const served = calls.filter(({ outcome }) => outcome === "served").length;
  return { served, failed: calls.length - served };
}

function percentile99(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return Math.round(sorted[Math.floor(sorted.length * 0.99)] ?? 0);
}
