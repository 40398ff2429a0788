import { readFileSync } from "node:fs";
import { sql } from "kysely";
import { type Migration, Migrator } from "kysely/migration";
import { expect, test } from "vitest";
import { MIGRATIONS } from "../../../server/storage/database/migrations.ts";
import type { PaymentKey } from "../../../server/storage/statements/payment-record.ts";
import { requireCitus } from "../../helpers/citus.ts";
import { startCluster } from "../../helpers/cluster.ts";
import { query, runStatement } from "../../helpers/postgres.ts";
import { createRefund } from "../../helpers/store-factories.ts";
import { forSuite } from "../../helpers/suite.ts";
import { createFilled, createMerchants, inDatabase, readRows, run } from "./setup/filled.ts";

const readScript = (name: string) => readFileSync(`docs/operators/${name}`, "utf8");

const cluster = forSuite(() => startCluster({ programs: requireCitus() }));

test("the roles of the guide keep their rights, and get no more, on every machine", async () => {
  const ownerUrl = await cluster.createDatabase("refunds");
  const urlOf = (role: string) => ownerUrl.replace("postgres@", `refunds_${role}@`);
  // As if they were older than the cluster.
  const alone = "set citus.enable_ddl_propagation = off;";
  await runStatement(ownerUrl, alone + readScript("roles.sql"));
  await run(urlOf("migrate"), "migrate");
  await runStatement(ownerUrl, alone + readScript("audit.sql"));
  await runStatement(urlOf("migrate"), alone + readScript("rights.sql"));
  await runStatement(ownerUrl, `${alone} grant execute on function record_admin_action to refunds_serve`);

  const asServer = await run(urlOf("serve"));
  const asOwner = await run(urlOf("migrate"));

  expect([asServer.code, asServer.stderr]).toEqual([
    1,
    expect.stringMatching(/^Only the owner of the tables/),
  ]);
  expect(asOwner).toMatchObject({ code: 0, stderr: "" });
  await runStatement(
    urlOf("migrate"),
    `grant update (refunded_cents) on payments to refunds_serve;
     alter policy authorizes_refunds on payments with check (status <> 'TERMINAL_FAILED')`,
  );
  const denied = { code: "42501" };
  await inDatabase(ownerUrl, ({ db }) => createMerchants(db, 5));
  await inDatabase(urlOf("serve"), async ({ db }) => {
    const [payment] = (
      await sql<PaymentKey>`
      select payment_id as "paymentId", merchant from payments where kind = 'DEBIT' limit 1`.execute(db)
    ).rows;
    if (payment) await createRefund(db, payment);
    await expect(sql`delete from payments`.execute(db)).rejects.toMatchObject(denied);
    await expect(sql`delete from payments where merchant = 'acme'`.execute(db)).rejects.toMatchObject(denied);
  });
  await inDatabase(urlOf("jane"), async ({ db }) => {
    await sql`delete from subscriptions`.execute(db);
    await expect(sql`delete from payments`.execute(db)).rejects.toMatchObject(denied);
  });
});

test("tables come back to the coordinator, and can be distributed again", async () => {
  const databaseUrl = await createFilled(cluster, "returned");
  const before = await readRows(databaseUrl);
  await run(databaseUrl);

  await runStatement(databaseUrl, readScript("undistribute.sql"));
  await inDatabase(databaseUrl, ({ ping }) => ping()); // a server that finds no guards does not start
  const returned = await readRows(databaseUrl);
  const repeated = await run(databaseUrl);

  expect(returned).toEqual(before);
  expect(repeated).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("The tables are distributed: "),
  });
  expect(await readRows(databaseUrl)).toEqual(before);
  const whole = await query(
    databaseUrl,
    `select from pg_dist_object join pg_dist_partition using (colocationid)
     where classid = 'pg_proc'::regclass and logicalrelid = 'payments'::regclass`,
  );
  expect(whole.length).toBeGreaterThan(0);
  await inDatabase(databaseUrl, ({ db }) => createMerchants(db, 1));
});

test("a migration of a later release changes distributed tables on every machine, or none of it", async () => {
  const databaseUrl = await createFilled(cluster, "migrated");
  await run(databaseUrl);
  const statements = [
    "alter table payments add column trial integer not null default 0",
    "alter table payments add constraint trial_positive check (trial >= 0) not valid",
    "alter table payments validate constraint trial_positive",
    "create index payments_trial on payments (merchant, trial)",
    "update payments set trial = 1",
    "alter table access_tokens add column trial text",
  ];
  const failing = [...statements, "alter table payments add column trial integer"];
  const columns = async () => {
    const machines = [cluster.coordinator, ...cluster.workers].map((machine) => machine.urlOf("migrated"));
    const found = machines.map((url) =>
      query(
        url,
        `select from pg_attribute where attrelid in ('payments'::regclass, 'access_tokens'::regclass) and attname = 'trial'`,
      ),
    );
    return (await Promise.all(found)).map((rows) => rows.length);
  };

  await inDatabase(databaseUrl, async ({ db }) => {
    const migrate = (texts: string[]) => {
      const later: Migration = {
        async up(transaction) {
          for (const text of texts) await sql.raw(text).execute(transaction);
        },
      };
      return new Migrator({
        db,
        provider: { getMigrations: async () => ({ ...MIGRATIONS, "9999-later": later }) },
      }).migrateToLatest();
    };

    expect((await migrate(failing)).error).toMatchObject({ code: "42701" });
    expect(await columns()).toEqual([0, 0, 0]);
    expect((await migrate(statements)).error).toBeUndefined();
    expect(await columns()).toEqual([2, 2, 2]);
    const { rows } = await sql`select from payments where trial = 1`.execute(db);
    expect(rows).toHaveLength(150);
    await sql`create index concurrently payments_trial_2 on payments (merchant, trial)`.execute(db);
  });
});
