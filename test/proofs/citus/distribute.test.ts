import { expect, test } from "vitest";
import { requireCitus, startCluster } from "../../helpers/cluster.ts";
import { accepts, refundInsert } from "../../helpers/databases.ts";
import { query, runStatement } from "../../helpers/postgres.ts";
import { forSuite } from "../../helpers/suite.ts";
import { createFilledDatabase, inDatabase, readRows, run } from "./filled-database.ts";

const BY_MERCHANT = [
  "deliveries",
  "delivery_attempts",
  "events",
  "payments",
  "payouts_waiting",
  "subscriptions",
];
const EVERYWHERE = ["access_tokens", "clock", "deployment", "holds"];
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
  expect(first.stdout).toBe("The tables are distributed.\n");
  expect(second).toMatchObject({ code: 0, stderr: "", stdout: "The tables were distributed before.\n" });
});

test("moves the rows of a filled database, each once, those of a merchant side by side", async () => {
  const databaseUrl = await createFilledDatabase(cluster, "filled");
  await runStatement(databaseUrl, "insert into deployment (mode) values ('production')");
  const before = await readRows(databaseUrl);

  const { code } = await run(databaseUrl);

  expect(code).toBe(0);
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

test("refuses while a server is connected, and leaves the tables as they are", async () => {
  const databaseUrl = await createFilledDatabase(cluster, "refused");
  const before = await readRows(databaseUrl);

  const connected = await inDatabase(databaseUrl, async ({ readTime }) => {
    await readTime();
    return run(databaseUrl);
  });

  expect([connected.code, connected.stdout]).toEqual([1, ""]);
  expect(connected.stderr).toMatch(/^Stop all servers first: .* process \d+ of postgres/);
  expect(await readTables(databaseUrl)).toEqual([]);
  expect(await readRows(databaseUrl)).toEqual(before);
  expect(await run(databaseUrl)).toMatchObject({ code: 0, stderr: "" });
  expect(await readRows(databaseUrl)).toEqual(before);
});
