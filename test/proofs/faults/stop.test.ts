import { setTimeout } from "node:timers/promises";
import { expect, test } from "vitest";
import { engines } from "../../helpers/engine.ts";
import { refundOf, subscriptionTo } from "../../helpers/factories.ts";
import { head, openConnection } from "../../helpers/network/raw-http.ts";
import { startReceiver } from "../../helpers/receiver.ts";
import { createRandom, record, reportProgress, roundsOf } from "./setup/figures.ts";
import { createBusiness, createCrashableStore, createLastingStore } from "./setup/lasting-store.ts";
import { send, startLoad } from "./setup/load.ts";
import { conclude, repeatUnknown } from "./setup/losses.ts";

const LOAD_MS = 800;
const EXIT_LIMIT_MS = 10_000;

test.each(engines)(
  "SIGTERM under load: accepted requests get their responses, and it exits 0 (%s)",
  async (engine) => {
    const rounds = roundsOf(0.2);
    const random = createRandom(`stop ${engine}`);
    await using store = await createLastingStore(engine);
    let server = await store.start();
    const { ledger, receiver } = await createBusiness(server);
    await using _ = receiver;
    let withoutResponse = 0;
    let slowestMs = 0;

    for (let round = 1; round <= rounds; round += 1) {
      const load = startLoad([server], ledger);
      await setTimeout(random() * LOAD_MS);
      const stoppedAtMs = performance.now();
      server.kill("SIGTERM");
      expect(await server.exit).toMatchObject({ code: 0, signal: null });
      slowestMs = Math.max(slowestMs, Math.round(performance.now() - stoppedAtMs));
      await load.stop();

      server = await store.start();
      // A request that was refused or got no response had no effect: its key is free.
      withoutResponse += await repeatUnknown(server, ledger);
      reportProgress(`SIGTERM, ${engine}`, round, rounds, {
        acknowledged: ledger.acknowledged.size,
        withoutResponse,
      });
    }

    const figures = { rounds, "done without a response": withoutResponse, "ms at most to exit": slowestMs };
    await conclude(`SIGTERM, ${engine}`, server, { ledger, receiver, figures });
    expect(withoutResponse).toBe(0);
    expect(slowestMs).toBeLessThan(EXIT_LIMIT_MS);
  },
);

test("SIGTERM while a receiver does not respond and a caller does not end its request: it exits 0 in time", async () => {
  await using store = await createLastingStore("embedded");
  const server = await store.start();
  await using silent = await startReceiver(() => {});
  await send(server.url, "/v1/webhook/subscribe", subscriptionTo(silent.url));
  await send(server.url, "/v1/refunds", refundOf("pay_settled"));
  await silent.first(1);
  using caller = await openConnection(server.url);
  caller.send(head("/v1/refunds", { "Content-Length": 100, Expect: "100-continue" }));
  expect(await caller.response()).toMatchObject({ status: 100 });

  const stoppedAtMs = performance.now();
  server.kill("SIGTERM");

  expect(await server.exit).toMatchObject({ code: 0, signal: null });
  const exitMs = performance.now() - stoppedAtMs;
  record("SIGTERM, receivers do not respond", { "ms to exit": Math.round(exitMs) });
  expect(exitMs).toBeLessThan(EXIT_LIMIT_MS);
});

test("SIGTERM while PostgreSQL does not respond: requests get responses all the same, and it exits 0 in time", async () => {
  const { store, postgres } = await createCrashableStore();
  await using _ = store;
  const server = await store.start();
  await send(server.url, "/v1/refunds", refundOf("pay_settled"));
  postgres.suspend();
  const calls = Array.from({ length: 30 }, () => send(server.url, "/v1/refunds", refundOf("pay_settled")));
  await setTimeout(LOAD_MS);

  const stoppedAtMs = performance.now();
  server.kill("SIGTERM");

  expect((await Promise.all(calls)).map((response) => response?.status)).toEqual(calls.map(() => 503));
  expect(await server.exit).toMatchObject({ code: 0, signal: null });
  const exitMs = performance.now() - stoppedAtMs;
  record("SIGTERM, PostgreSQL stopped", { responses: calls.length, "ms to exit": Math.round(exitMs) });
  expect(exitMs).toBeLessThan(EXIT_LIMIT_MS);
});
