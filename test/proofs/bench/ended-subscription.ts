import { progress, single, toSpread } from "./lib/compare.ts";
import { bench, createStore, makePayments, type Store, serve, subscribe } from "./lib/frame.ts";
import { load, refundsOf } from "./lib/load.ts";

/*
 * Ending a subscription with 600,000 due deliveries: how long the call takes, and how much slower refunds are while the
 * deliveries are ended. Few calls at a time, so that the time of a refund is measured and not the wait for others.
 */
const DELIVERIES = Number(process.env.BENCH_ROWS ?? 600_000);
const SECONDS = 15;

/** Runs a statement on a store that no server has open, and resolves with its first row. */
async function query<Row>(store: Store, statements: readonly string[]): Promise<Row> {
  const { connection, close } = await store.open();
  let row: unknown;
  for (const statement of statements) [row] = (await connection.executeSql(statement)).rows;
  await close();
  return row as Row;
}

/** A subscription whose receiver does not exist, with deliveries that will be due soon. Resolves with its key. */
async function makeSubscription(store: Store): Promise<string> {
  const server = await serve(store);
  await subscribe(server, "http://127.0.0.1:9/");
  await server.stop();
  const { key } = await query<{ key: string }>(store, [
    `insert into events (event_id, merchant, type, resource_id, sequence, occurred_at, payload)
      select 'evt_' || gen_random_uuid(), merchant, 'account.linked', 'acc_1', 1, now(), '{}' from subscriptions`,
    `insert into deliveries (webhook_id, event_id, merchant, subscription_key, due_at)
      select 'msg_' || gen_random_uuid(), e.event_id, s.merchant, s.subscription_key, now() + interval '1 minute'
      from subscriptions s, (select event_id from events limit 1) as e, generate_series(1, ${DELIVERIES})`,
    "vacuum analyze deliveries",
    "select subscription_key as key from subscriptions",
  ]);
  return key;
}

await bench(
  async (engine) => {
    const store = await createStore(engine);
    progress.show(`${engine}: filling a store`);
    const key = await makeSubscription(store);
    const server = await serve(store);
    const body = refundsOf(await makePayments(server));
    const refund = async (seconds: number) =>
      (await load({ url: server.url, body }, { connections: 4, seconds })).latencies;
    await refund(3);
    progress.show(`${engine}: measuring`);
    const alone = await refund(5);
    const startedAt = performance.now();
    await server.call(`/sandbox/subscriptions/${key}`);
    const tookMs = performance.now() - startedAt;
    const beside = await refund(SECONDS);
    const seconds = (performance.now() - startedAt) / 1_000;
    await server.stop();
    const waiting = "select count(*)::integer as left from deliveries where state = 'PENDING'";
    const { left } = await query<{ left: number }>(store, [waiting]);
    const name = `the call that ends a subscription with 600,000 deliveries, ${engine}`;
    return {
      figures: [single(name, "ms", [tookMs], 1_000)],
      notes: [
        `${engine}: ${DELIVERIES - left} of ${DELIVERIES} deliveries had ended ${seconds.toFixed(0)} s after the call; p50, p99 and longest of a refund in ms: before ${toSpread(alone)}; in this time ${toSpread(beside)}`,
      ],
    };
  },
  ["PostgreSQL", "embedded"],
);
