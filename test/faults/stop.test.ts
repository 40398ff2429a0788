import { setTimeout } from "node:timers/promises";
import { expect, test } from "vitest";
import { engines } from "../helpers/databases.ts";
import { refundOf, subscriptionTo } from "../server/given.ts";
import { head, openConnection } from "../server/raw-http.ts";
import { startReceiver } from "../webhooks/receiver.ts";
import { createRandom, record, roundsOf, tell } from "./figures.ts";
import { givenBusiness, givenCrashable, givenStore } from "./given.ts";
import { callUntil, send } from "./load.ts";
import { concludeStop, reckon, repeatUnknown } from "./reckon.ts";

const LOAD_MS = 800;
const EXIT_LIMIT_MS = 10_000;

test.each(engines)(
  "SIGTERM under load: what was accepted is answered, and it exits 0 (%s)",
  async (engine) => {
    const rounds = roundsOf(0.2);
    const random = createRandom(`stop ${engine}`);
    await using store = await givenStore(engine);
    let server = await store.start();
    const { ledger, receiver } = await givenBusiness(server);
    await using _ = receiver;
    let unanswered = 0;
    let slowestMs = 0;

    for (let round = 1; round <= rounds; round += 1) {
      let stopped = false;
      const load = callUntil(server.url, ledger, { stopped: () => stopped });
      await setTimeout(random() * LOAD_MS);
      const stoppedAtMs = performance.now();
      server.kill("SIGTERM");
      expect(await server.exit).toMatchObject({ code: 0, signal: null });
      slowestMs = Math.max(slowestMs, performance.now() - stoppedAtMs);
      stopped = true;
      await load;

      server = await store.start();
      // A call that was not answered, or refused, has done nothing: its key is free.
      unanswered += await repeatUnknown(server, ledger);
      tell(`SIGTERM, ${engine}`, round, rounds, { acknowledged: ledger.acknowledged.size, unanswered });
    }

    const losses = await reckon(server, ledger, receiver);
    concludeStop(`SIGTERM, ${engine}`, { rounds, ledger, losses, unanswered, slowestMs });
    expect(slowestMs).toBeLessThan(EXIT_LIMIT_MS);
  },
);

test("SIGTERM while a receiver does not answer and a caller does not end its call: it exits 0 in time", async () => {
  await using store = await givenStore("embedded");
  const server = await store.start();
  await using silent = await startReceiver(() => {});
  await send(server.url, "/v1/webhook/subscribe", subscriptionTo(silent.url));
  await send(server.url, "/v1/refunds", refundOf("pay_settled"));
  await silent.first(1);
  using caller = await openConnection(server.url);
  caller.send(head("/v1/refunds", { "Content-Length": 100, Expect: "100-continue" }));
  expect(await caller.answer()).toMatchObject({ status: 100 });

  const stoppedAtMs = performance.now();
  server.kill("SIGTERM");

  expect(await server.exit).toMatchObject({ code: 0, signal: null });
  const exitMs = performance.now() - stoppedAtMs;
  record("SIGTERM, nobody answers", { "ms to exit": Math.round(exitMs) });
  expect(exitMs).toBeLessThan(EXIT_LIMIT_MS);
});

test("SIGTERM while PostgreSQL does not answer: calls are answered all the same, and it exits 0 in time", async () => {
  const { store, postgres } = await givenCrashable();
  await using _ = store;
  const server = await store.start();
  await send(server.url, "/v1/refunds", refundOf("pay_settled"));
  postgres.suspend();
  const calls = Array.from({ length: 30 }, () => send(server.url, "/v1/refunds", refundOf("pay_settled")));
  await setTimeout(LOAD_MS);

  const stoppedAtMs = performance.now();
  server.kill("SIGTERM");

  expect((await Promise.all(calls)).map((answer) => answer?.status)).toEqual(calls.map(() => 503));
  expect(await server.exit).toMatchObject({ code: 0, signal: null });
  const exitMs = performance.now() - stoppedAtMs;
  record("SIGTERM, PostgreSQL stopped", { answered: calls.length, "ms to exit": Math.round(exitMs) });
  expect(exitMs).toBeLessThan(EXIT_LIMIT_MS);
});
