import { setTimeout } from "node:timers/promises";
import pg from "pg";
import { expect, test, vi } from "vitest";
import { dollars, refundOf } from "../../helpers/factories.ts";
import { sandboxOf } from "../../helpers/sandbox.ts";
import { spawnServer } from "../../helpers/server.ts";
import { until } from "../../helpers/subscriber.ts";
import { recordMissing } from "./setup/figures.ts";
import { createBusiness, postgresEnv } from "./setup/lasting-store.ts";
import { send, startLoad } from "./setup/load.ts";
import { conclude, repeatUnknown } from "./setup/losses.ts";
import { findPostgresPrograms, startPostgresPair } from "./setup/postgres-pair.ts";
import { findProgram, startHaProxy } from "./setup/programs.ts";

const LOAD_MS = 1_500;
/** Longer than any time limit of a call, and longer than the server waits for an unresponsive database. */
const FROZEN_MS = 12_000;
const RESPONSE_LIMIT_MS = 10_000;
const RECOVERY_LIMIT_MS = 5_000;

const statusOf = async (url: string) => (await fetch(`${url}/readyz`)).status;
const untilReady = (url: string) => until(async () => ((await statusOf(url)) === 200 ? true : undefined));

/** PostgreSQL with a synchronous standby, behind HAProxy; undefined where a program is missing, which is recorded. */
async function startSetting(fault: string) {
  const bin = findPostgresPrograms();
  const haProxy = findProgram("haproxy");
  if (!bin || !haProxy) {
    recordMissing(fault, bin ? "haproxy" : "pg_basebackup");
    return undefined;
  }
  const pair = await startPostgresPair(bin);
  const proxy = await startHaProxy(haProxy, "haproxy.cfg", [pair.ports.primary, pair.ports.standby]);
  const url = `postgres://postgres@127.0.0.1:${proxy.port}/postgres`;
  await vi.waitFor(() => findOnlyPrimary(url), { timeout: 60_000 });
  const env = postgresEnv(url);
  const dispose = async () => {
    await proxy[Symbol.asyncDispose]();
    await pair[Symbol.asyncDispose]();
  };
  return { pair, env, [Symbol.asyncDispose]: dispose };
}

/** HAProxy takes turns between both until its first check has told which one is the standby. */
async function findOnlyPrimary(url: string): Promise<void> {
  for (let connections = 0; connections < 4; connections += 1) {
    const client = new pg.Client(url);
    try {
      await client.connect();
      const { rows } = await client.query("select pg_is_in_recovery() as standby");
      expect(rows).toEqual([{ standby: false }]);
    } finally {
      await client.end();
    }
  }
}

test("a failover to the synchronous standby loses nothing, and no server is restarted", async () => {
  await using setting = await startSetting("failover");
  if (!setting) return;
  const { pair, env } = setting;
  await using one = await spawnServer({ dataDir: "unused", env });
  await using two = await spawnServer({ dataDir: "unused", env });
  const { ledger, receiver } = await createBusiness(one);
  await using _ = receiver;
  const servers = [one, two];
  const load = startLoad(servers, ledger, { persistent: true });
  await setTimeout(LOAD_MS);

  await pair.failOver();
  const promotedAt = performance.now();
  await Promise.all(servers.map(({ url }) => untilReady(url)));
  const readyMs = performance.now() - promotedAt;
  await setTimeout(LOAD_MS);
  await load.stop();

  const cameThrough = await repeatUnknown(two, ledger);
  const figures = {
    "came through without a response": cameThrough,
    "ms from the promotion to ready": Math.round(readyMs),
  };
  await conclude("failover", two, { ledger, receiver, figures });
});

test("a frozen synchronous standby: refunds respond 503 in time, and recover within 5 s", async () => {
  await using setting = await startSetting("standby frozen");
  if (!setting) return;
  const { pair, env } = setting;
  await using server = await spawnServer({ dataDir: "unused", env });
  const { ledger, receiver } = await createBusiness(server);
  await using _ = receiver;
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
  while (performance.now() - frozenAt < FROZEN_MS) {
    calls.push(...(await Promise.all([ledger.paymentId, ...payments].map(issue))));
  }
  const connections = await pair.countClients();
  pair.thawStandby();
  const thawedAt = performance.now();
  await until(async () => ((await issue()).status === 201 ? true : undefined));
  const recoveredMs = performance.now() - thawedAt;
  await untilReady(server.url);

  const slowestMs = Math.max(...calls.map(({ milliseconds }) => milliseconds));
  await repeatUnknown(server, ledger);
  const figures = {
    "503 meanwhile": calls.length,
    "ms at most": Math.round(slowestMs),
    "connections of the primary, abandoned ones included": connections,
    "ms to recover": Math.round(recoveredMs),
  };
  await conclude("standby frozen", server, { ledger, receiver, figures });
  expect(new Set(calls.map(({ status }) => status))).toEqual(new Set([503]));
  expect(slowestMs).toBeLessThan(RESPONSE_LIMIT_MS);
  expect(recoveredMs).toBeLessThan(RECOVERY_LIMIT_MS);
});
