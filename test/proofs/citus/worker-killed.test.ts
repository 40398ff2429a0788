import { setTimeout } from "node:timers/promises";
import { expect, test } from "vitest";
import { dollars, refundOf } from "../../helpers/factories.ts";
import { portOf } from "../../helpers/postgres.ts";
import { until } from "../../helpers/receiver.ts";
import { createRandom } from "../faults/setup/figures.ts";
import { send } from "../faults/setup/load.ts";
import {
  type Business,
  type Counts,
  conclude,
  countCalls,
  createBusinesses,
  difference,
  startDeployment,
  startLoad,
} from "./deployment.ts";

const MERCHANTS_PER_WORKER = 4;
const LOAD_MS = 3_000;
/** Longer than a call waits for the database. */
const OUTAGE_MS = 6_000;
/** The least share of their refunds of which the others get the deliveries while the worker is away: some are under way. */
const DELIVERED_SHARE = 0.8;

test("a worker killed and restarted under load: its merchants get 503 and lose nothing, the others do not notice", async () => {
  const random = createRandom("worker of a cluster");
  await using deployment = await startDeployment({ durable: true });
  const { cluster, servers } = deployment;
  const businesses = await createBusinesses(deployment, MERCHANTS_PER_WORKER);
  const ofHit: Counts[] = [];
  const beforehand: Counts[] = [];
  const ofSpared: Counts[] = [];
  let failedForSpared = 0;

  for (const worker of cluster.workers) {
    const { hit = [], spared = [] } = Object.groupBy(businesses, (business) =>
      business.worker === portOf(worker) ? "hit" : "spared",
    );
    const atStart = countCalls(spared);
    const load = startLoad(deployment, businesses);
    await setTimeout(LOAD_MS * (0.5 + random()));
    const before = { hit: countCalls(hit), spared: countCalls(spared) };
    beforehand.push(difference(atStart, before.spared));
    await worker.crash("SIGKILL");
    await setTimeout(OUTAGE_MS);
    ofHit.push(difference(before.hit, countCalls(hit)));
    ofSpared.push(difference(before.spared, countCalls(spared)));
    await worker.restart();
    await until(async () => (await refundOnce(servers[0].url, hit)) === 201);
    await setTimeout(LOAD_MS);
    await load.stop();
    failedForSpared += difference(before.spared, countCalls(spared)).failed;
  }

  const { acknowledged } = countCalls(businesses);
  const refusals = new Set(businesses.flatMap(({ ledger }) => [...ledger.refusals]));
  await conclude("a worker killed", deployment, businesses, {
    rounds: cluster.workers.length,
    acknowledged,
    "failed calls of its merchants": sum(ofHit, "failed"),
    "acknowledged before for the others": sum(beforehand, "acknowledged"),
    "delivered before to the others": sum(beforehand, "delivered"),
    "acknowledged meanwhile for the others": sum(ofSpared, "acknowledged"),
    "delivered meanwhile to the others": sum(ofSpared, "delivered"),
    "failed calls of the others": failedForSpared,
  });
  expect(sum(ofHit, "failed")).toBeGreaterThan(0);
  expect([...refusals]).toEqual([503]);
  expect(failedForSpared).toBe(0);
  for (const counts of ofSpared) {
    expect(counts.acknowledged).toBeGreaterThan(0);
    expect(counts.delivered).toBeGreaterThan(counts.acknowledged * DELIVERED_SHARE);
  }
});

function sum(counts: readonly Counts[], name: keyof Counts): number {
  return counts.reduce((total, count) => total + count[name], 0);
}

/** A refund that is counted like those of the load. */
async function refundOnce(url: string, [business]: readonly Business[]): Promise<number | undefined> {
  if (!business) throw new Error("no merchant has its rows there");
  const { ledger } = business;
  const request = refundOf(ledger.paymentId, { amount: dollars(0.01) });
  ledger.unknown.set(request.requestKey, request);
  return (await send(url, "/v1/refunds", request, ledger.token))?.status;
}
