import { rm } from "node:fs/promises";
import { setTimeout } from "node:timers/promises";
import { openDatabase } from "../../../server/storage/database.ts";
import { runStatement, startPostgres } from "../../helpers/postgres.ts";
import { makeTempDir } from "../../helpers/temp-dir.ts";
import { compare, percentile, progress, record } from "./lib/compare.ts";
import type { Figure } from "./lib/figure.ts";
import { load, refundsOf } from "./lib/load.ts";
import { makePayments, type Running, runServer } from "./lib/processes.ts";

/*
 * The 99th percentile of a refund while old deliveries, attempts and events are being removed, compared with a server on an
 * equal store that keeps them. Few calls at a time, so that the time of a refund is measured and not the wait for others.
 */

/** Rows of each table: a million in total. */
const ROWS = 340_000;
const CALLS = 4;
/** A server first searches for old rows a minute after its start. */
const UNTIL_FIRST_RUN_MS = 62_000;

const ID = "substr(time, 1, 8) || '-' || substr(time, 9) || '-7000-8000-' || lpad(to_hex(n), 12, '0')";
const OLD = `(select n, lpad(to_hex((extract(epoch from now() - interval '200 days') * 1000)::bigint + n), 12, '0') as time
  from generate_series(1, ${ROWS}) as n) as old`;
const FILL = [
  `insert into events (event_id, merchant, type, resource_id, sequence, occurred_at, payload)
    select 'evt_' || ${ID}, 'merchant_' || n % 100, 'refund.authorized', 'rfd_' || n, 1, now(), repeat('x', 300) from ${OLD}`,
  `insert into deliveries (webhook_id, event_id, merchant, subscription_key, state, attempts)
    select 'msg_' || substr(event_id, 5), event_id, merchant, 'sub_1', 'DELIVERED', 1 from events`,
  `insert into delivery_attempts (webhook_id, merchant, number, at, status, milliseconds)
    select webhook_id, merchant, 1, now() - interval '200 days', 200, 12 from deliveries`,
  "vacuum analyze",
];

type Server = Running & { payments: readonly string[] };
type Stores = { kept: StoreOptions; removed: StoreOptions; close(): Promise<void> };
type StoreOptions = { databaseUrl?: string; dataDir?: string };

async function makeOnPostgres(): Promise<Stores> {
  const postgres = await startPostgres({ durable: true });
  const make = async (name: string) => {
    await runStatement(postgres.urlOf("postgres"), `create database ${name}`);
    const options = { databaseUrl: postgres.urlOf(name) };
    await fill({ ...options, dataDir: "" });
    return options;
  };
  return { kept: await make("kept"), removed: await make("removed"), close: () => postgres.stop() };
}

async function makeEmbedded(): Promise<Stores> {
  const make = async () => {
    const dataDir = await makeTempDir();
    await fill({ dataDir });
    return { dataDir };
  };
  const [kept, removed] = [await make(), await make()];
  const close = async () => {
    for (const { dataDir } of [kept, removed]) await rm(dataDir, { recursive: true, force: true });
  };
  return { kept, removed, close };
}

async function fill(options: { databaseUrl?: string; dataDir: string }): Promise<void> {
  progress.show("retention: filling a store");
  const { connection, close } = await openDatabase({ ...options, limits: { backgroundMs: 600_000 } });
  for (const statement of FILL) await connection.executeSql(statement);
  await close();
}

async function start(options: StoreOptions, retentionDays: string): Promise<Server> {
  const server = await runServer({ ...options, retentionDays });
  return { ...server, payments: await makePayments(server, 64) };
}

async function countDeliveries({ databaseUrl, dataDir = "" }: StoreOptions): Promise<number> {
  const { connection, close } = await openDatabase({ databaseUrl, dataDir });
  const { rows } = await connection.executeSql("select count(*)::integer as count from deliveries");
  await close();
  return (rows[0] as { count: number }).count;
}

const p99 = (server: Server) => async () => {
  const body = refundsOf(server.payments);
  const { latencies } = await load({ url: server.url, body }, { connections: CALLS });
  return percentile(latencies, 0.99);
};

const figures: Figure[] = [];
const notes: string[] = [];
for (const [engine, make] of [
  ["PostgreSQL", makeOnPostgres],
  ["embedded", makeEmbedded],
] as const) {
  const stores = await make();
  const kept = await start(stores.kept, "off");
  const removed = await start(stores.removed, "90");
  await setTimeout(UNTIL_FIRST_RUN_MS);
  figures.push(
    await compare({
      name: `p99 of a refund while retention removes, 1,000,000 rows, ${engine}`,
      unit: "ms",
      ours: p99(removed),
      against: { name: "while nothing is removed", measure: p99(kept) },
      target: { atMost: 1.2 },
    }),
  );
  for (const server of [kept, removed]) await server.stop();
  const count = await countDeliveries(stores.removed);
  notes.push(`${engine}: ${ROWS - count} of ${ROWS} deliveries were removed meanwhile`);
  await stores.close();
}
await record("retention", figures, notes);
