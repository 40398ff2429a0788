import { setTimeout } from "node:timers/promises";
import { expect, test } from "vitest";
import { dollars, refundOf } from "../../helpers/factories.ts";
import { until } from "../../helpers/receiver.ts";
import { sandboxOf } from "../../helpers/sandbox.ts";
import { findPostgresPrograms, startPostgresPair } from "./setup/lasting-store.ts";
import { send } from "./setup/load.ts";
import { startTrial, untilReady } from "./setup/trial.ts";

const LOAD_MS = 1_500;
/** Longer than any time limit of a call, and longer than the server waits for an unresponsive database. */
const FROZEN_MS = 12_000;
const RESPONSE_LIMIT_MS = 10_000;
const RECOVERY_LIMIT_MS = 5_000;

test("a failover to the synchronous standby loses nothing, and no server is restarted", async (context) => {
  const pair = await startPostgresPair(findPostgresPrograms(context, "failover"));
  const counted = { "ms from the promotion to ready": Number.NaN };
  const trial = await startTrial("failover", pair.start, { replicas: 2, counted });
  const failOver = async () => {
    await setTimeout(LOAD_MS);
    await pair.failOver();
    const promotedAt = performance.now();
    await Promise.all(trial.servers.map((server) => untilReady(server)));
    counted["ms from the promotion to ready"] = Math.round(performance.now() - promotedAt);
    await setTimeout(LOAD_MS);
  };

  await trial.underLoad(failOver, { persistent: true });
  await trial.recover();

  await trial.conclude();
});

test("a frozen synchronous standby: refunds respond 503 in time, and recover within 5 s", async (context) => {
  const pair = await startPostgresPair(findPostgresPrograms(context, "standby frozen"));
  const counted: Record<string, number> = {};
  const trial = await startTrial("standby frozen", pair.start, { counted });
  const { server, ledger } = trial;
  const issue = async (paymentId = ledger.paymentId) => {
    const request = refundOf(paymentId, { amount: dollars(0.01) });
    if (paymentId === ledger.paymentId) ledger.unknown.set(request.requestKey, request);
    const startedAt = performance.now();
    const response = await send(server.url, "/v1/refunds", request);
    return { status: response?.status, milliseconds: performance.now() - startedAt };
  };
  const create = async () => {
    const { body } = await sandboxOf(server)("createPayment", { body: { amount: dollars(100) } });
    return (body as { paymentId: string }).paymentId;
  };
  // Each refunds its own payment, so that it waits for its commit and not for another refund's lock.
  const payments = await Promise.all(Array.from({ length: 30 }, create));

  pair.freezeStandby();
  const frozenAt = performance.now();
  const calls: Awaited<ReturnType<typeof issue>>[] = [];
  while (performance.now() - frozenAt < FROZEN_MS)
    calls.push(...(await Promise.all([ledger.paymentId, ...payments].map(issue))));
  counted["connections of the primary, abandoned ones included"] = await pair.countClients();
  pair.thawStandby();
  const thawedAt = performance.now();
  await until(async () => (await issue()).status === 201);
  const recoveredMs = Math.round(performance.now() - thawedAt);
  await untilReady(server);

  const slowestMs = Math.round(Math.max(...calls.map(({ milliseconds }) => milliseconds)));
  Object.assign(counted, {
    "503 meanwhile": calls.length,
    "ms at most": slowestMs,
    "ms to recover": recoveredMs,
  });
  await trial.recover();
  await trial.conclude();
  expect(new Set(calls.map(({ status }) => status))).toEqual(new Set([503]));
  expect(slowestMs).toBeLessThan(RESPONSE_LIMIT_MS);
  expect(recoveredMs).toBeLessThan(RECOVERY_LIMIT_MS);
});
