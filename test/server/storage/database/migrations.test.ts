import { createHash, randomUUID } from "node:crypto";
import {
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  sql,
} from "kysely";
import { describe, expect, test } from "vitest";
import type { Db } from "../../../../server/storage/database/db-types.ts";
import { MIGRATIONS } from "../../../../server/storage/database/migrations.ts";
import { createTestDatabase, laterMigrations, useDatabase } from "../../../helpers/databases.ts";
import { engines } from "../../../helpers/engine.ts";
import { begin, runStatement } from "../../../helpers/postgres.ts";
import { createPayment, getDebit } from "../../../helpers/store-factories.ts";
import { forEachTest } from "../../../helpers/suite.ts";

/** Tables without a merchant in their keys: small, or read before the merchant is known. Each machine of a cluster has all rows. */
const REFERENCE_TABLES = [
  "access_tokens", // found by the token, which names the merchant
  "admin_changes",
  "blocks", // of merchants, and of what is found before the merchant is known
  "clock",
  "deployment",
  "feed",
  "kysely_migration",
  "kysely_migration_lock",
  "last_check",
  "payouts", // its positions count over all merchants
  "publishers",
  "turns",
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
});

/** Of the statements of each released migration, which never changes. Before the first release, one that changes gets its new sum. */
const SUMS = { "0001-initial-tables": "51287b1ee9317bc1", "0002-feed-and-record": "39f60658cd24bf9c" };

test.each(Object.entries(SUMS))(
  "the released migration %s has the statements with which it was released",
  async (name, released) => {
    const sum = createHash("sha256");
    const db = new Kysely({
      dialect: {
        createAdapter: () => new PostgresAdapter(),
        createDriver: () => new DummyDriver(),
        createIntrospector: (of) => new PostgresIntrospector(of),
        createQueryCompiler: () => new PostgresQueryCompiler(),
      },
      log: ({ query }) => void sum.update(query.sql.replaceAll(/\s+/g, " ")),
    });

    await MIGRATIONS[name]?.up(db);

    expect(sum.digest("hex").slice(0, 16)).toBe(released);
  },
);

/** PostgreSQL refuses a column with a default while functions use the rows of its table. */
const ADD_NOTE = [
  "drop function may_become cascade",
  "alter table payments add column note text not null default 'none'",
  "select guard_payments()",
];
const LATER = laterMigrations(ADD_NOTE);
const BROKEN = laterMigrations([...ADD_NOTE, "alter table missing add column note text"]);

async function readNotes(db: Db): Promise<unknown[]> {
  return (await sql`select note from payments`.execute(db)).rows;
}

describe.each(engines)("a database of an older release on %s", (engine) => {
  const stored = forEachTest(() => createTestDatabase(engine, { empty: true }));

  test("gets the tables of a later one, and keeps its rows", async () => {
    const older = await stored.open();
    const payment = await createPayment(older.db, { merchant: "acme" });
    await older.close();

    const { db } = await stored.open({ migrations: LATER });

    expect(await readNotes(db)).toEqual([{ note: "none" }]);
    expect(await getDebit(db, payment)).toEqual(payment);
  });

  test("is unchanged when a migration fails", async () => {
    await (await stored.open()).close();

    await expect(stored.open({ migrations: BROKEN })).rejects.toMatchObject({ code: "42P01" });

    const { db } = await stored.open();
    await expect(readNotes(db)).rejects.toMatchObject({ code: "42703" });
  });
});

test("several new servers migrate once, while a server of the release before goes on", async () => {
  await using stored = await createTestDatabase("postgres", { empty: true });
  const older = await stored.open();
  const payment = await createPayment(older.db, { merchant: "acme" });
  const read = () => getDebit(older.db, payment);
  await read();

  const newer = await Promise.all(Array.from({ length: 5 }, () => stored.open({ migrations: LATER })));

  await Promise.all(newer.map(({ readTime }) => readTime()));
  const { rows } = await sql`select name from kysely_migration`.execute(older.db);
  expect(rows).toEqual(Object.keys(LATER).map((name) => ({ name })));
  // Its connection has planned this statement for the columns of before.
  expect(await read()).toEqual(payment);
});

test("a role that can only log in stops no migration by locks of known numbers, and is named", async () => {
  await using database = await createTestDatabase("postgres", { empty: true });
  const role = `stranger_${randomUUID().replaceAll("-", "")}`;
  await runStatement(database.url, `create role ${role} login`);
  const { client, ...stranger } = await begin(database.url.replace("postgres@", `${role}@`));
  const lock = "select pg_advisory_lock(3853314791062309107), pg_advisory_lock(9, 0)";
  await client.query(lock);

  await expect(database.open()).rejects.toThrow(/pg_terminate_backend\(\d+\) ends the session of stranger_/);
  await client.query("select pg_advisory_unlock(9, 0)");
  await database.open();

  await stranger[Symbol.asyncDispose]();
  await runStatement(database.url, `drop role ${role}`);
});
