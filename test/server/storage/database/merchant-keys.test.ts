import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import pg from "pg";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Store } from "../../../../server/storage/database/tables.ts";
import { resetMerchant } from "../../../../server/storage/fixtures.ts";
import { createTestDatabase, engines, type TestDatabase, useDatabase } from "../../../helpers/databases.ts";
import { migrateUpTo } from "../../../helpers/older-database.ts";
import { NOW } from "../../../helpers/store-factories.ts";

/**
 * Tables without a merchant in their keys: small, or read before the merchant is known. Each machine has all of their rows,
 * where the others are spread.
 */
const REFERENCE_TABLES = [
  "access_tokens", // found by the token, which names the merchant
  "admin_actions",
  "clock",
  "deployment",
  "kysely_migration",
  "kysely_migration_lock",
];

describe.each(engines)("the tables on %s", (engine) => {
  const database = useDatabase(engine);

  test("have the merchant in every primary and unique key, save those that every machine has", async () => {
    const { rows } = await sql<{ name: string }>`
      select distinct relname as name from pg_index join pg_class on pg_class.oid = indrelid
      where indisunique and relnamespace = current_schema()::regnamespace and not exists (
        select from pg_attribute where attrelid = indrelid and attnum = any(indkey) and attname = 'merchant')
      order by relname`.execute(database.db);

    expect(rows.map(({ name }) => name)).toEqual(REFERENCE_TABLES);
  });

  test("refer to rows of the same merchant only", async () => {
    const { rows } = await sql<{ name: string; of_merchant: boolean }>`
      select conname as name, exists (
        select from unnest(conkey, confkey) as pair (own, other)
        join pg_attribute own on own.attrelid = conrelid and own.attnum = pair.own and own.attname = 'merchant'
        join pg_attribute other on other.attrelid = confrelid and other.attnum = pair.other and other.attname = 'merchant'
      ) as of_merchant
      from pg_constraint where contype = 'f' and connamespace = current_schema()::regnamespace
      order by conname`.execute(database.db);

    expect(rows).toEqual([
      { name: "delivery_attempts_delivery_fkey", of_merchant: true },
      { name: "payments_original_payment_id_merchant_fkey", of_merchant: true },
    ]);
  });
});

/** The last migration before the merchant came into the keys. */
const BEFORE = "0008-no-job-queue";

describe.each(engines)("a database of the release before on %s", (engine) => {
  let testDatabase: TestDatabase;

  beforeEach(async () => {
    testDatabase = await createTestDatabase(engine, { empty: true });
  });
  afterEach(() => testDatabase.remove());

  test("keeps its rows, which belong together as before", async () => {
    await migrateUpTo(BEFORE, testDatabase.options, async (older) => {
      for (const merchant of ["acme", "other"]) await writeAttempts(run(older), merchant, 2);
    });

    const { db } = await testDatabase.open();

    const attempts = () => db.selectFrom("delivery_attempts").select(["merchant", "number"]).execute();
    expect((await attempts()).toSorted(byMerchant)).toEqual([
      { merchant: "acme", number: 1 },
      { merchant: "acme", number: 2 },
      { merchant: "other", number: 1 },
      { merchant: "other", number: 2 },
    ]);
    expect(await readUnfinished(db)).toEqual([]);
    await resetMerchant(db, { merchant: "acme", fixtures: [], now: NOW });
    expect((await attempts()).map(({ merchant }) => merchant)).toEqual(["other", "other"]);
  });
});

describe("a database of the release before on postgres", () => {
  let testDatabase: TestDatabase;
  let clients: pg.Client[];

  beforeEach(async () => {
    clients = [];
    testDatabase = await createTestDatabase("postgres", { empty: true });
    await migrateUpTo(BEFORE, testDatabase.options);
  });
  afterEach(async () => {
    await Promise.all(clients.map((client) => client.end()));
    await testDatabase.remove();
  });

  const connect = async () => {
    const client = new pg.Client(testDatabase.options.databaseUrl);
    clients.push(client);
    await client.connect();
    return client;
  };

  test("is migrated by one of several servers, while servers of that release go on writing", async () => {
    const older = await connect();
    await writeAttempts(run(older), "before", 1_500);
    let migrated = false;
    let written = 0;
    const writing = (async () => {
      // Once more after the migration: such a server may go on for long.
      for (let last = false; !last; written += 1) {
        last = migrated;
        await writeAttempts(run(older), "meanwhile", 1);
      }
    })();

    const opening = Promise.all([testDatabase.open(), testDatabase.open(), testDatabase.open()]);
    await opening.finally(() => {
      migrated = true;
      return writing;
    });

    const [first] = await opening;

    const { rows } = await sql<{ merchant: string; count: number }>`
      select merchant, count(*)::integer as count from delivery_attempts group by 1 order by 1`.execute(
      first.db,
    );
    expect(rows).toEqual([
      { merchant: "before", count: 1_500 },
      { merchant: "meanwhile", count: written },
    ]);
    expect(await readUnfinished(first.db)).toEqual([]);
  });

  test.each(["delivery_attempts", "events"])(
    "waits for a transaction that reads %s, and writers don't wait for it",
    async (table) => {
      const reader = await connect();
      await reader.query(`begin; select from ${table}`);
      const older = await connect();
      const opening = testDatabase.open();
      for (let tries = 0; tries < 2; tries += 1) {
        while (!(await isWaitingForLock(older)));
        await writeAttempts(run(older), "acme", 1);
      }

      await reader.query("rollback");

      const { db } = await opening;
      expect(await db.selectFrom("delivery_attempts").select("merchant").execute()).toEqual([
        { merchant: "acme" },
        { merchant: "acme" },
      ]);
    },
  );

  test("is migrated whole by the next server when one was killed in between", async () => {
    const older = await connect();
    await writeAttempts(run(older), "acme", 1);
    await older.query(`
      alter table delivery_attempts add column merchant text collate "C";
      alter table delivery_attempts add constraint delivery_attempts_merchant_known
        check (merchant is not null) not valid;
      create unique index events_with_merchant on events (event_id, merchant);
      update pg_index set indisvalid = false where indexrelid = 'events_with_merchant'::regclass`);

    const { db } = await testDatabase.open();

    expect(await readUnfinished(db)).toEqual([]);
    expect(await db.selectFrom("delivery_attempts").select("merchant").execute()).toEqual([
      { merchant: "acme" },
    ]);
  });
});

type Run = (text: string, values: unknown[]) => Promise<unknown>;

function run(client: pg.Client | { query: Run }): Run {
  return (text, values) => client.query(text, values);
}

/** Writes a delivery with attempts as the release before did. */
async function writeAttempts(runStatement: Run, merchant: string, attempts: number): Promise<void> {
  const id = randomUUID();
  await runStatement(
    `insert into events (event_id, merchant, type, resource_id, sequence, occurred_at, payload)
      values ('evt_' || $1::text, $2, 'account.linked', $1, 1, now(), '{}')`,
    [id, merchant],
  );
  await runStatement(
    `insert into deliveries (webhook_id, event_id, merchant, subscription_key, due_at)
      values ('msg_' || $1::text, 'evt_' || $1, $2, 'sub_1', now())`,
    [id, merchant],
  );
  await runStatement(
    `insert into delivery_attempts (webhook_id, number, at, milliseconds)
      select 'msg_' || $1::text, number, now(), 1 from generate_series(1, $2::integer) as number`,
    [id, attempts],
  );
}

/** What a migration leaves behind that has not come to its end. */
async function readUnfinished(store: Store): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select indexrelid::regclass::text as name from pg_index where not indisvalid
    union all select conname from pg_constraint where not convalidated
    union all select relname from pg_class where relname like '%with_merchant'
    union all select conname from pg_constraint where conname like '%known'`.execute(store);
  return rows.map(({ name }) => name);
}

async function isWaitingForLock(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query(`
    select from pg_locks join pg_database on pg_database.oid = database
    where datname = current_database() and mode = 'AccessExclusiveLock' and not granted`);
  return rows.length > 0;
}

function byMerchant(one: { merchant: string; number: number }, other: typeof one): number {
  return one.merchant.localeCompare(other.merchant) || one.number - other.number;
}
