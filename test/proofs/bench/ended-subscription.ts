import { rm } from "node:fs/promises";
import { openDatabase } from "../../../server/storage/database.ts";
import { runStatement, startPostgres } from "../../helpers/postgres.ts";
import { makeTempDir } from "../../helpers/temp-dir.ts";
import { percentile, progress, record, single } from "./lib/compare.ts";
import type { Figure } from "./lib/figure.ts";
import { load, refundsOf } from "./lib/load.ts";
import { makePayments, runServer } from "./lib/processes.ts";

/*
 * Ending a subscription with 600,000 due deliveries: how long the call takes, and how much slower refunds are while the
 * deliveries are ended. Few calls at a time, so that the time of a refund is measured and not the wait for others.
 */
const DELIVERIES = 600_000;
const CALLS = 4;
const SECONDS = 15;
const HEADERS = { Authorization: "Bearer sandbox_acme", "Content-Type": "application/json" };

type Store = { databaseUrl?: string; dataDir: string };

/** A subscription whose receiver does not exist, with deliveries that will be due soon. Returns its key. */
async function makeSubscription(store: Store): Promise<string> {
  const server = await runServer(store);
  await fetch(`${server.url}/v1/webhook/subscribe`, {
    method: "POST",
    headers: HEADERS,
    body: JSON.stringify({
      url: "http://127.0.0.1:9/",
      secretKey: "9f2c1b7ae04d5386c1f7a2b9d0e43c58",
      subscriptionDetails: { type: "ALL" },
    }),
  });
  await server.stop();
  const { connection, close } = await openDatabase({ ...store, limits: { backgroundMs: 600_000 } });
  await connection.executeSql(`
    insert into events (event_id, merchant, type, resource_id, sequence, occurred_at, payload)
    select 'evt_' || gen_random_uuid(), merchant, 'account.linked', 'acc_1', 1, now(), '{}' from subscriptions`);
  await connection.executeSql(`
    insert into deliveries (webhook_id, event_id, merchant, subscription_key, due_at)
    select 'msg_' || gen_random_uuid(), e.event_id, s.merchant, s.subscription_key, now() + interval '1 minute'
    from subscriptions s, (select event_id from events limit 1) as e, generate_series(1, ${DELIVERIES})`);
  await connection.executeSql("vacuum analyze deliveries");
  const { rows } = await connection.executeSql("select subscription_key as key from subscriptions");
  await close();
  return (rows[0] as { key: string }).key;
}

async function countWaiting(store: Store): Promise<number> {
  const { connection, close } = await openDatabase(store);
  const { rows } = await connection.executeSql(
    "select count(*)::integer as waiting from deliveries where state = 'PENDING'",
  );
  await close();
  return (rows[0] as { waiting: number }).waiting;
}

async function measure(name: string, store: Store): Promise<[Figure, string]> {
  progress.show(`${name}: filling a store`);
  const key = await makeSubscription(store);
  const server = await runServer(store);
  const body = refundsOf(await makePayments(server, 64));
  const refund = async (seconds: number) =>
    (await load({ url: server.url, body }, { connections: CALLS, seconds })).latencies;
  await refund(3);
  progress.show(`${name}: measuring`);
  const alone = await refund(5);
  const startedAt = performance.now();
  const response = await fetch(`${server.url}/sandbox/subscriptions/${key}`, {
    method: "DELETE",
    headers: HEADERS,
  });
  const tookMs = performance.now() - startedAt;
  if (!response.ok) throw new Error(`ending the subscription responded ${response.status}`);
  const beside = await refund(SECONDS);
  const seconds = (performance.now() - startedAt) / 1_000;
  await server.stop();
  const left = await countWaiting(store);
  progress.clear();
  const told = (values: readonly number[]) =>
    [0.5, 0.99, 1].map((part) => percentile(values, part).toFixed(0)).join(", ");
  const note = `${name}: ${DELIVERIES - left} of ${DELIVERIES} deliveries had ended ${seconds.toFixed(0)} s after the call; p50, p99 and longest of a refund in ms: before ${told(alone)}; in this time ${told(beside)}`;
  return [
    single(`the call that ends a subscription with 600,000 deliveries, ${name}`, "ms", [tookMs], 1_000),
    note,
  ];
}

const postgres = await startPostgres({ durable: true });
await runStatement(postgres.urlOf("postgres"), "create database ended");
const dataDirs = [await makeTempDir(), await makeTempDir()] as const;
const [onPostgres, postgresNote] = await measure("PostgreSQL", {
  databaseUrl: postgres.urlOf("ended"),
  dataDir: dataDirs[0],
});
await postgres.stop();
const [embedded, embeddedNote] = await measure("embedded", { dataDir: dataDirs[1] });
for (const dataDir of dataDirs) await rm(dataDir, { recursive: true, force: true });
await record("ended-subscription", [onPostgres, embedded], [postgresNote, embeddedNote]);
