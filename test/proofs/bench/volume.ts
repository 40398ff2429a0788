import { randomInt } from "node:crypto";
import pg from "pg";
import { startPostgres } from "../../helpers/postgres.ts";
import { compare, percentile, progress, record } from "./lib/compare.ts";
import { load, refundsOf } from "./lib/load.ts";
import { makePayments, type Running, runServer } from "./lib/processes.ts";

/*
 * The 99th percentile of a refund on a full store, and with many refunds on one payment, compared with an almost empty one
 * on the same PostgreSQL server. Few calls at a time, so that the time of a refund is measured and not the wait for others. The
 * full store is loaded by COPY, which takes minutes; `PAYMENTS` and `REFUNDS` make it smaller for a trial.
 */
const PAYMENTS = Number(process.env.PAYMENTS ?? 10_000_000);
const REFUNDS = Number(process.env.REFUNDS ?? 1_000_000);
const ON_ONE_PAYMENT = 10_000;
const CALLS = 4;

const postgres = await startPostgres({ durable: true });
const administration = new pg.Client(postgres.urlOf("postgres"));
await administration.connect();

async function startOn(
  database: string,
  fill: readonly string[] = [],
): Promise<Running & { payments: string[] }> {
  await administration.query(`create database ${database}`);
  const server = await runServer({ databaseUrl: postgres.urlOf(database) });
  const payments = await makePayments(server, 64);
  const client = new pg.Client(postgres.urlOf(database));
  await client.connect();
  for (const [index, statement] of fill.entries()) {
    progress.show(`volume: filling ${database}, step ${index + 1} of ${fill.length}`);
    await client.query(statement.replaceAll("$PAYMENT", payments[0] ?? ""));
  }
  await client.end();
  return { ...server, payments };
}

const COLUMNS = `payment_id, merchant, kind, status, amount_cents, refunded_cents, request_key, original_payment_id,
  settled_at, history, sequence, created_at`;
const LONG_AGO = '"2026-01-05 12:00:00+00"';

/** Loads rows by COPY from the output of awk. `values` are expressions of awk for the columns of row `n`. */
function copy(count: number, values: readonly string[]): string {
  const program = `awk 'BEGIN { OFS = "\\t"; for (n = 1; n <= ${count}; n++) print ${values.join(", ")} }'`;
  return `copy payments (${COLUMNS}) from program '${program.replaceAll("'", "''")}'`;
}

const NULL = String.raw`"\\N"`;
const NO_HISTORY = '"[]"';
const FULL = [
  copy(PAYMENTS, [
    ...[
      '"pay_" n',
      '"acme"',
      '"DEBIT"',
      '"SETTLED"',
      "10000",
      `(n <= ${REFUNDS} ? 100 : 0)`,
      '"original-" n',
    ],
    ...[NULL, LONG_AGO, NO_HISTORY, "0", LONG_AGO],
  ]),
  copy(REFUNDS, [
    ...['"rfd_" n', '"acme"', '"REFUND"', '"AUTHORIZED"', "100", "0", '"refund-" n'],
    ...['"pay_" n', NULL, NO_HISTORY, "1", LONG_AGO],
  ]),
  "vacuum analyze",
];
const CROWDED = [
  `insert into payments (${COLUMNS})
    select 'rfd_' || n, 'acme', 'REFUND', 'AUTHORIZED', 1, 0, 'refund-' || n, '$PAYMENT', null, '[]', 1, now()
    from generate_series(1, ${ON_ONE_PAYMENT}) n`,
  `update payments set refunded_cents = ${ON_ONE_PAYMENT} where payment_id = '$PAYMENT'`,
  "vacuum analyze",
];

/** More than are refunded in a run, from everywhere in the table, so that most are not in memory yet. */
const scattered = Array.from({ length: 100_000 }, () => `pay_${randomInt(1, PAYMENTS + 1)}`);

const empty = await startOn("empty");
const full = await startOn("full_store", FULL);
const crowded = await startOn("crowded", CROWDED);

const p99 = (server: Running, payments: readonly string[]) => async () => {
  const target = { url: server.url, body: refundsOf(payments) };
  const { latencies, statuses } = await load(target, { connections: CALLS });
  if ([...statuses.keys()].some((status) => status !== 201))
    throw new Error(`not all were 201: ${[...statuses]}`);
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
    name: `p99 of a refund with ${PAYMENTS.toLocaleString("en")} payments and ${REFUNDS.toLocaleString("en")} refunds stored`,
    unit: "ms",
    ours: p99(full, scattered),
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
