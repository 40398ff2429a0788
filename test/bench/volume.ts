import pg from "pg";
import { startPostgres } from "../helpers/postgres.ts";
import { compare, percentile, progress, record } from "./lib/compare.ts";
import { load, refundsOf } from "./lib/load.ts";
import { makePayments, type Running, runServer } from "./lib/processes.ts";

/*
 * The 99th percentile of a refund on a full store, and with many refunds on one payment, compared with an almost empty one
 * on the same PostgreSQL server. Few calls at a time, so that the time of a refund is measured and not the wait for others.
 */
const PAYMENTS = 1_000_000;
const REFUNDS = 100_000;
const ON_ONE_PAYMENT = 10_000;
const CALLS = 4;

const postgres = await startPostgres({ durable: true });
const administration = new pg.Client(postgres.urlOf("postgres"));
await administration.connect();

async function startOn(database: string, fill?: string): Promise<Running & { payments: string[] }> {
  await administration.query(`create database ${database}`);
  const server = await runServer({ databaseUrl: postgres.urlOf(database) });
  const payments = await makePayments(server, 64);
  if (fill) {
    progress.show(`volume: filling ${database}`);
    const client = new pg.Client(postgres.urlOf(database));
    await client.connect();
    await client.query(fill.replaceAll("$PAYMENT", payments[0] ?? ""));
    await client.query("vacuum analyze");
    await client.end();
  }
  return { ...server, payments };
}

const COLUMNS = `payment_id, merchant, kind, status, amount_cents, refunded_cents, request_key, original_payment_id,
  settled_at, history, sequence, created_at`;
const FULL = `
  insert into payments (${COLUMNS})
    select 'pay_' || n, 'acme', 'DEBIT', 'SETTLED', 10000, case when n <= ${REFUNDS} then 100 else 0 end, 'original-' || n, null,
      now() - interval '30 days', '[]', 0, now()
    from generate_series(1, ${PAYMENTS}) n;
  insert into payments (${COLUMNS})
    select 'rfd_' || n, 'acme', 'REFUND', 'AUTHORIZED', 100, 0, 'refund-' || n, 'pay_' || n, null, '[]', 1, now()
    from generate_series(1, ${REFUNDS}) n;`;
const CROWDED = `
  insert into payments (${COLUMNS})
    select 'rfd_' || n, 'acme', 'REFUND', 'AUTHORIZED', 1, 0, 'refund-' || n, '$PAYMENT', null, '[]', 1, now()
    from generate_series(1, ${ON_ONE_PAYMENT}) n;
  update payments set refunded_cents = ${ON_ONE_PAYMENT} where payment_id = '$PAYMENT';`;

const empty = await startOn("empty");
const full = await startOn("full_store", FULL);
const crowded = await startOn("crowded", CROWDED);

const p99 = (server: Running, payments: readonly string[]) => async () => {
  const { latencies } = await load({ url: server.url, body: refundsOf(payments) }, { connections: CALLS });
  return percentile(latencies, 0.99);
};
/** Another payment in each round, because a round leaves some hundreds of refunds on it. */
let rounds = 0;
const untouched = () => {
  rounds += 1;
  return p99(empty, [empty.payments[rounds % empty.payments.length] ?? ""])();
};
const target = { atMost: 1.5 };
await record("volume", [
  await compare({
    name: "p99 of a refund with 1,000,000 payments and 100,000 refunds stored",
    unit: "ms",
    ours: p99(full, full.payments),
    against: { name: "on an empty store", measure: p99(empty, empty.payments) },
    target,
  }),
  await compare({
    name: "p99 of a refund of a payment with 10,000 refunds",
    unit: "ms",
    ours: p99(crowded, crowded.payments.slice(0, 1)),
    against: { name: "of a payment with none", measure: untouched },
    target,
  }),
]);
await Promise.all([empty, full, crowded].map((server) => server.stop()));
await administration.end();
await postgres.stop();
