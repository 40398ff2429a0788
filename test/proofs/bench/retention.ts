import { setTimeout } from "node:timers/promises";
import { compare, percentile, progress } from "./lib/compare.ts";
import {
  bench,
  createDatabase,
  createPostgres,
  createStore,
  makePayments,
  type Store,
  serve,
} from "./lib/frame.ts";
import { load, refundsOf } from "./lib/load.ts";

/*
 * The 99th percentile of a refund while old deliveries, attempts and events are being removed, compared with a server on an
 * equal store that keeps them. Few calls at a time, so that the time of a refund is measured and not the wait for others.
 */

/** Rows of each table: a million in total. `BENCH_ROWS` makes it smaller for a trial. */
const ROWS = Number(process.env.BENCH_ROWS ?? 340_000);
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

async function startOn(store: Store, RETENTION_DAYS: string) {
  progress.show("retention: filling a store");
  const { connection, close } = await store.open();
  for (const statement of FILL) await connection.executeSql(statement);
  await close();
  const server = await serve(store, { RETENTION_DAYS });
  const body = refundsOf(await makePayments(server));
  const p99 = async () =>
    percentile((await load({ url: server.url, body }, { connections: 4 })).latencies, 0.99);
  return { server, p99 };
}

async function countDeliveries(store: Store): Promise<number> {
  const { connection, close } = await store.open();
  const { rows } = await connection.executeSql("select count(*)::integer as count from deliveries");
  await close();
  return (rows[0] as { count: number }).count;
}

await bench(
  async (engine) => {
    const postgres = engine === "PostgreSQL" ? await createPostgres() : undefined;
    const create = () => (postgres ? createDatabase(postgres) : createStore(engine));
    const store = await create();
    const kept = await startOn(await create(), "off");
    const removed = await startOn(store, "90");
    await setTimeout(UNTIL_FIRST_RUN_MS);
    const figure = await compare({
      name: `p99 of a refund while retention removes, 1,000,000 rows, ${engine}`,
      unit: "ms",
      ours: removed.p99,
      theirs: kept.p99,
      against: "while nothing is removed",
      atMost: 1.2,
    });
    await removed.server.stop();
    const count = await countDeliveries(store);
    return {
      figures: [figure],
      notes: [`${engine}: ${ROWS - count} of ${ROWS} deliveries were removed meanwhile`],
    };
  },
  ["PostgreSQL", "embedded"],
);
