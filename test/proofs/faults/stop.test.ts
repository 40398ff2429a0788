import { setTimeout } from "node:timers/promises";
import { expect, test } from "vitest";
import { refundOf, subscriptionTo } from "../../helpers/factories.ts";
import { head, openConnection } from "../../helpers/network/raw-http.ts";
import { startReceiver } from "../../helpers/receiver.ts";
import { record } from "./setup/figures.ts";
import { createCrashableStore, createLastingStore } from "./setup/lasting-store.ts";
import { send } from "./setup/load.ts";

const LOAD_MS = 800;
const EXIT_LIMIT_MS = 10_000;

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
