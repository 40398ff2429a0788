import { randomInt } from "node:crypto";
import type { PostgresServer } from "../../helpers/postgres.ts";
import { compare, percentile, progress } from "./lib/compare.ts";
import { bench, createDatabase, createPostgres, makePayments, serve } from "./lib/frame.ts";
import { load, refundsOf } from "./lib/load.ts";

/*
 * The 99th percentile of a refund on a full store, and with many refunds on one payment, compared with an almost empty one
 * on the same PostgreSQL server. Few calls at a time, so that the time of a refund is measured and not the wait for others. The
 * full store is loaded by COPY, which takes minutes; `PAYMENTS` and `REFUNDS` make it smaller for a trial.
 */
const PAYMENTS = Number(process.env.PAYMENTS ?? 10_000_000);
const REFUNDS = Number(process.env.REFUNDS ?? 1_000_000);
const ON_ONE_PAYMENT = 10_000;

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
  "alter table payments disable trigger user", // the sums are in the rows
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
  "alter table payments enable trigger user",
  "vacuum analyze",
];
const CROWDED = [
  `insert into payments (${COLUMNS})
    select 'rfd_' || n, 'acme', 'REFUND', 'AUTHORIZED', 1, 0, 'refund-' || n, '$PAYMENT', null, '[]', 1, now()
    from generate_series(1, ${ON_ONE_PAYMENT}) n`,
  "vacuum analyze",
];

/** More than are refunded in a run, from everywhere in the table, so that most are not in memory yet. */
const scattered = Array.from({ length: 100_000 }, () => `pay_${randomInt(1, PAYMENTS + 1)}`);

async function startOn(postgres: PostgresServer, fill: readonly string[] = []) {
  const store = await createDatabase(postgres);
  const server = await serve(store);
  const payments = await makePayments(server);
  const { connection, close } = await store.open();
  for (const [index, statement] of fill.entries()) {
    progress.show(`volume: filling, step ${index + 1} of ${fill.length}`);
    await connection.executeSql(statement.replaceAll("$PAYMENT", payments[0] ?? ""));
  }
  await close();
  const p99 = async (ids: readonly string[]) => {
    const { latencies, statuses } = await load({ url: server.url, body: refundsOf(ids) }, { connections: 4 });
    if (statuses.size !== 1 || !statuses.has(201)) throw new Error(`not all were 201: ${[...statuses]}`);
    return percentile(latencies, 0.99);
  };
  return { payments, p99 };
}

await bench(async () => {
  const postgres = await createPostgres();
  const empty = await startOn(postgres);
  const full = await startOn(postgres, FULL);
  const crowded = await startOn(postgres, CROWDED);
  /** Another payment in each round, because a round leaves some hundreds of refunds on it. */
  let rounds = 0;
  const untouched = () => {
    rounds += 1;
    return empty.p99([empty.payments[rounds % empty.payments.length] ?? ""]);
  };
  const common = { unit: "ms", atMost: 1.5 };
  const stored = await compare({
    ...common,
    name: `p99 of a refund with ${PAYMENTS.toLocaleString("en")} payments and ${REFUNDS.toLocaleString("en")} refunds stored`,
    ours: () => full.p99(scattered),
    theirs: () => empty.p99(empty.payments),
    against: "on an empty store",
  });
  const refunded = await compare({
    ...common,
    name: "p99 of a refund of a payment with 10,000 refunds",
    ours: () => crowded.p99(crowded.payments.slice(0, 1)),
    theirs: untouched,
    against: "of a payment with none",
  });
  return { figures: [stored, refunded] };
});
