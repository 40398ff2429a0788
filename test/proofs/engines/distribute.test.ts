import { sql } from "kysely";
import { expect, test } from "vitest";
import { distributeTables } from "../../../server/operators/distribute.ts";
import { distribute } from "../../../server/storage/citus/distribute.ts";
import type { Database } from "../../../server/storage/database.ts";
import { statementsOf } from "../../../server/storage/statements/statements.ts";
import { collectOutput } from "../../helpers/admin.ts";
import { requireCitus } from "../../helpers/citus.ts";
import { startCluster } from "../../helpers/cluster.ts";
import { accepts, refundInsert } from "../../helpers/payment-sql.ts";
import { query, runStatement } from "../../helpers/postgres.ts";
import { createPayment, issueRefund, LONG_AGO, newMerchant } from "../../helpers/store-factories.ts";
import { forSuite } from "../../helpers/suite.ts";
import { createFilled, inDatabase, open, readRows, run } from "./setup/filled.ts";

const BY_MERCHANT = [
  "deliveries",
  "delivery_attempts",
  "events",
  "payments",
  "payouts_waiting",
  "subscriptions",
];
const EVERYWHERE = ["access_tokens", "clock", "deployment", "holds"];
const LOCATIONS =
  "payments, payouts_waiting, events, subscriptions, deliveries, delivery_attempts: by merchant, in 16 shards each, on 2 machines\n" +
  "access_tokens, clock, deployment, holds: on every machine\n";

const cluster = forSuite(() => startCluster({ programs: requireCitus() }));

const readTables = (databaseUrl: string) =>
  query(
    databaseUrl,
    "select logicalrelid::text as name, partmethod as method from pg_dist_partition order by 1",
  );

/** The machines of each part of the key: how many tables have that part, and on how many machines these lie. */
const readParts = (databaseUrl: string) =>
  query<{ tables: number; machines: number }>(
    databaseUrl,
    `select count(distinct logicalrelid)::integer as tables, count(distinct groupid)::integer as machines
     from pg_dist_shard join pg_dist_partition using (logicalrelid) join pg_dist_placement using (shardid)
     where partmethod = 'h' group by colocationid, shardminvalue`,
  );

test("distributes an empty database, and says later that it was done before", async () => {
  const databaseUrl = await cluster.createDatabase("empty");

  const [first, second] = [await run(databaseUrl), await run(databaseUrl)];

  expect(first).toMatchObject({ code: 0, stderr: "" });
  expect(first.stdout).toMatch(/^The tables are distributed: 0 rows moved in \d+ s\.\n/);
  expect(first.stdout).toContain(LOCATIONS);
  expect(second).toMatchObject({
    code: 0,
    stderr: "",
    stdout: `The tables were distributed before.\n${LOCATIONS}`,
  });
});

test("moves the rows of a filled database, each once, those of a merchant side by side", async () => {
  const databaseUrl = await createFilled(cluster, "filled");
  await runStatement(databaseUrl, "insert into deployment (mode) values ('production')");
  const before = await readRows(databaseUrl);
  const count = Object.values(before).flat().length;

  const { code, stdout } = await run(databaseUrl);

  expect([code, stdout]).toEqual([0, expect.stringContaining(`: ${count} rows moved in `)]);
  expect(await readRows(databaseUrl)).toEqual(before);
  expect(BY_MERCHANT.map((table) => before[table]?.length)).toEqual([150, 50, 150, 150, 50, 50]);
  expect(await readTables(databaseUrl)).toEqual(
    [
      ...BY_MERCHANT.map((name) => ({ name, method: "h" })),
      ...EVERYWHERE.map((name) => ({ name, method: "n" })),
    ].sort((a, b) => (a.name < b.name ? -1 : 1)),
  );
  expect(await readParts(databaseUrl)).toEqual(Array(16).fill({ tables: 6, machines: 1 }));
  const left = await query(
    databaseUrl,
    "select sum(pg_relation_size(logicalrelid))::integer as bytes from pg_dist_partition",
  );
  expect(left).toEqual([{ bytes: 0 }]);
  const [payment] = await query<{ payment_id: string; merchant: string }>(
    databaseUrl,
    "select payment_id, merchant from payments where kind = 'DEBIT' limit 1",
  );
  const { payment_id: of = "", merchant = "" } = payment ?? {};
  const refunds = [
    { of, cents: 1 },
    { of, cents: 0 },
    { of: "pay_missing", cents: 1 },
  ];
  await inDatabase(databaseUrl, async ({ db }) => {
    const accepted = refunds.map((refund) => accepts(db, refundInsert(merchant, [refund])));
    expect(await Promise.all(accepted)).toEqual([true, false, false]);
  });
});

test("refuses a cluster without workers, and says how to add one", async () => {
  await runStatement(cluster.coordinator.urlOf("postgres"), "create database alone");
  const databaseUrl = cluster.coordinator.urlOf("alone");
  await runStatement(databaseUrl, "create extension citus");

  const { code, stdout, stderr } = await run(databaseUrl);

  expect([code, stdout]).toEqual([1, ""]);
  expect(stderr).toMatch(/^This Citus cluster has no machine .* select citus_add_node\('host', 5432\)\n$/);
  expect(await readTables(databaseUrl)).toEqual([]);
});

test("refuses while a server is connected, while a session has locked a table, and stops when interrupted", async () => {
  const databaseUrl = await createFilled(cluster, "refused");
  const before = await readRows(databaseUrl);

  const connected = await inDatabase(databaseUrl, async ({ ping }) => {
    await ping();
    return run(databaseUrl);
  });
  const locked = await whileReading(databaseUrl, () => run(databaseUrl));
  const interrupted = await interruptAtThirdTable(databaseUrl);

  expect([connected.code, connected.stdout]).toEqual([1, ""]);
  expect(connected.stderr).toMatch(/^Stop all servers first: .* process \d+ of postgres from 127\.0\.0\.1/);
  expect([locked.code, locked.stdout]).toEqual([1, ""]);
  expect(locked.stderr).toMatch(/^The tables are locked by process \d+ of reader from 127\.0\.0\.1\./);
  expect(interrupted).toEqual([false, [], ["Interrupted. The tables are as they were."]]);
  expect(await readTables(databaseUrl)).toEqual([]);
  expect(await readRows(databaseUrl)).toEqual(before);
  expect(await run(databaseUrl)).toMatchObject({ code: 0, stderr: "" });
  expect(await readRows(databaseUrl)).toEqual(before);
});

/** Works while a role that may only read is in a transaction. */
async function whileReading<Result>(databaseUrl: string, work: () => Promise<Result>): Promise<Result> {
  await runStatement(databaseUrl, "create role reader login");
  await runStatement(databaseUrl, "grant select on all tables in schema public to reader");
  return inDatabase(databaseUrl.replace("postgres@", "reader@"), ({ db }) =>
    db.transaction().execute(async (transaction) => {
      await sql`select from payments`.execute(transaction);
      return work();
    }),
  );
}

async function interruptAtThirdTable(databaseUrl: string) {
  const output = collectOutput();
  const interruption = new AbortController();
  const done = await inDatabase(databaseUrl, ({ db }) =>
    distributeTables(
      (options) =>
        distribute(db, {
          ...options,
          onStep(step) {
            options.onStep?.(step);
            if (step.number === 3) interruption.abort();
          },
        }),
      { output, signal: interruption.signal },
    ),
  );
  return [done, output.printed, output.complaints];
}

test("lets a server that starts meanwhile wait, and then use distributed tables", async () => {
  const databaseUrl = await createFilled(cluster, "awaited");
  let starting: Promise<Database> | undefined;

  await inDatabase(databaseUrl, ({ db }) =>
    distribute(db, {
      onStep() {
        starting ??= open(databaseUrl);
      },
    }),
  );

  const server = await starting;
  expect(server && statementsOf(server.db).batchKey).toBeDefined();
  await server?.close();
});

test("a merchant on a shard of its own takes refunds after the next run; a role without rights can't hold up shards", async () => {
  const databaseUrl = await createFilled(cluster, "split");
  await run(databaseUrl);
  const merchant = newMerchant();
  const payment = await inDatabase(databaseUrl, ({ db }) =>
    createPayment(db, { merchant, settledAt: LONG_AGO }),
  );
  const before = await readRows(databaseUrl);
  await runStatement(
    databaseUrl,
    `select isolate_tenant_to_new_shard('payments', '${merchant}', 'CASCADE', 'block_writes')`,
  );
  await runStatement(databaseUrl, "create role stranger login");

  const repeated = await run(databaseUrl);

  expect(repeated).toMatchObject({ code: 0, stdout: expect.stringContaining("in 18 shards each") });
  expect(await readRows(databaseUrl)).toEqual(before);
  await inDatabase(databaseUrl, ({ db }) => issueRefund(db, payment, { amountCents: 1 }));
  expect(
    await query(databaseUrl, "select refunded_cents from payments where merchant = $1 and kind = 'DEBIT'", [
      merchant,
    ]),
  ).toEqual([{ refunded_cents: "1" }]);
  const [row] = await query<{ name: string }>(
    databaseUrl,
    "select proname as name from pg_proc where proname like 'enter_shards_%'",
  );
  const asStranger = databaseUrl.replace("postgres@", "stranger@");
  await expect(query(asStranger, `select ${row?.name}('{1}')`)).rejects.toThrow(
    "only roles that may add payments",
  );
});
