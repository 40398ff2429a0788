import { setTimeout } from "node:timers/promises";
import { expect, test } from "vitest";
import { dollars, refundOf, subscriptionTo } from "../../helpers/factories.ts";
import { until } from "../../helpers/subscriber.ts";
import { createRandom, reportProgress, roundsOf } from "./setup/figures.ts";
import { createBusiness, createCrashableStore } from "./setup/lasting-store.ts";
import { send, startLoad } from "./setup/load.ts";
import { conclude, endSubscriptions, repeatUnknown } from "./setup/losses.ts";

const LOAD_MS = 800;
const OUTAGE_MS = 1_500;
/** Longer than any time limit of a call. */
const SILENCE_MS = 15_000;
const RESPONSE_LIMIT_MS = 10_000;
/** Subscribed to events that never happen, because only the response matters. */
const subscriptionDetails = { type: "EVENT", details: ["account.linked"] };

test("PostgreSQL killed and restarted under load: the server goes on, and nothing acknowledged is lost", async () => {
  const rounds = roundsOf(0.2);
  const random = createRandom("database");
  const { store, postgres } = await createCrashableStore();
  await using _ = store;
  const server = await store.start();
  const { ledger, receiver } = await createBusiness(server);
  await using __ = receiver;
  const lost: string[] = [];
  let cameThrough = 0;

  for (let round = 1; round <= rounds; round += 1) {
    const load = startLoad([server], ledger, { persistent: true });
    await setTimeout(random() * LOAD_MS);
    await postgres.crash(round % 2 === 1 ? "SIGKILL" : "SIGQUIT");
    await setTimeout(random() * OUTAGE_MS);
    expect(await statusOf(server.url, "/readyz")).toBe(503);
    expect(await statusOf(server.url, "/healthz")).toBe(200);
    await postgres.restart();
    await until(async () => ((await statusOf(server.url, "/readyz")) === 200 ? true : undefined));
    await setTimeout(random() * LOAD_MS);
    await load.stop();

    cameThrough += await repeatUnknown(server, ledger);
    lost.push(...(await endSubscriptions(server, ledger)));
    const acknowledged = ledger.acknowledged.size;
    reportProgress("PostgreSQL killed", round, rounds, { acknowledged, lost: lost.length });
  }

  const figures = { rounds, "came through without a response": cameThrough };
  await conclude("PostgreSQL killed", server, { ledger, receiver, lostBefore: lost, figures });
});

test("PostgreSQL stopped under load without closing anything: requests get responses in time, and it goes on", async () => {
  const rounds = roundsOf(0.1);
  const random = createRandom("suspended");
  const { store, postgres } = await createCrashableStore();
  await using _ = store;
  const server = await store.start();
  const { ledger, receiver } = await createBusiness(server);
  await using __ = receiver;
  const counted = { "responses meanwhile": 0, "ms at most": 0, "came through without a response": 0 };

  for (let round = 1; round <= rounds; round += 1) {
    const load = startLoad([server], ledger, { persistent: true });
    await setTimeout(random() * LOAD_MS);
    postgres.suspend();
    const outage = setTimeout(random() * SILENCE_MS);
    // Further calls in addition to the load, each timed, while all connections of the server are in use or wait in vain.
    for (let calls = 0; calls < 2; calls += 1) {
      const startedAt = performance.now();
      const responses = await Promise.all([
        ...Array.from({ length: 30 }, () => {
          const request = refundOf(ledger.paymentId, { amount: dollars(0.01) });
          ledger.unknown.set(request.requestKey, request);
          return send(server.url, "/v1/refunds", request);
        }),
        send(
          server.url,
          "/v1/webhook/subscribe",
          subscriptionTo("http://127.0.0.1:9/", { subscriptionDetails }),
        ),
      ]);
      counted["ms at most"] = Math.round(Math.max(counted["ms at most"], performance.now() - startedAt));
      expect(responses.map((response) => response?.status)).toEqual(responses.map(() => 503));
      counted["responses meanwhile"] += responses.length;
    }
    expect(await statusOf(server.url, "/readyz")).toBe(503);
    expect(await statusOf(server.url, "/healthz")).toBe(200);
    await outage;
    postgres.resume();
    await until(async () => ((await statusOf(server.url, "/readyz")) === 200 ? true : undefined));
    await setTimeout(random() * LOAD_MS);
    await load.stop();
    counted["came through without a response"] += await repeatUnknown(server, ledger);
    reportProgress("PostgreSQL stopped", round, rounds, {
      ...counted,
      acknowledged: ledger.acknowledged.size,
    });
  }

  await conclude("PostgreSQL stopped", server, { ledger, receiver, figures: { rounds, ...counted } });
  expect(counted["ms at most"]).toBeLessThan(RESPONSE_LIMIT_MS);
});

async function statusOf(url: string, path: string): Promise<number> {
  const response = await fetch(url + path, { signal: AbortSignal.timeout(20_000) });
  await response.body?.cancel();
  return response.status;
}
