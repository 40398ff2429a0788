import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { sql } from "kysely";
import pg from "pg";
import { afterEach, beforeEach, describe, expect, inject, test } from "vitest";
import { DataDirLockedError } from "../../../../server/storage/database/lock.ts";
import type { Store } from "../../../../server/storage/database/tables.ts";
import { openDatabase } from "../../../../server/storage/database.ts";
import { createTestDatabase, engines, type TestDatabase } from "../../../helpers/databases.ts";
import { migrateUpTo } from "../../../helpers/older-database.ts";
import { runStatement } from "../../../helpers/postgres.ts";
import { startProgram } from "../../../helpers/process.ts";
import { createPayment, getDebit } from "../../../helpers/store-factories.ts";

describe.each(engines)("a database on %s", (engine) => {
  let testDatabase: TestDatabase;

  beforeEach(async () => {
    testDatabase = await createTestDatabase(engine);
  });
  afterEach(() => testDatabase.remove());

  test("gets its tables when it is opened, and keeps its rows when it is opened again", async () => {
    await testDatabase.remove();
    testDatabase = await createTestDatabase(engine, { empty: true });
    if (engine === "embedded") await leaveUnfinished(testDatabase.options.dataDir);
    const first = await testDatabase.open();
    const payment = await createPayment(first.db, { merchant: "acme" });
    await first.close();

    const second = await testDatabase.open();

    expect(second.embedded).toBe(engine === "embedded");
    expect(await getDebit(second.db, payment)).toEqual(payment);
  });

  test("responds to a ping while it is open, and rejects it once it is closed", async () => {
    const database = await testDatabase.open();
    await expect(database.ping()).resolves.toBeUndefined();

    await database.close();
    await database.close();

    await expect(database.ping()).rejects.toThrow();
  });

  test("loses the tables of the job queue that it once had", async () => {
    await testDatabase.remove();
    testDatabase = await createTestDatabase(engine, { empty: true });
    await haveJobQueue(testDatabase);

    const { db } = await testDatabase.open();

    expect(await listJobTables(db)).toEqual([]);
  });

  test("undoes all of a transaction that fails", async () => {
    const { db } = await testDatabase.open();

    const failing = db.transaction().execute(async (transaction) => {
      await sql`insert into clock (offset_ms) values (5)`.execute(transaction);
      throw new Error("half way");
    });

    await expect(failing).rejects.toThrow("half way");
    expect(await db.selectFrom("clock").selectAll().execute()).toEqual([]);
  });
});

describe("a database on postgres", () => {
  let testDatabase: TestDatabase;

  beforeEach(async () => {
    testDatabase = await createTestDatabase("postgres", { empty: true });
  });
  afterEach(() => testDatabase.remove());

  test("is migrated once when several replicas open it together", async () => {
    const [first, ...others] = await Promise.all([
      testDatabase.open(),
      ...Array.from({ length: 4 }, () => testDatabase.open()),
    ]);

    await Promise.all([first, ...others].map((replica) => replica.ping()));
    const { rows } = await sql`select name from kysely_migration`.execute(first.db);
    const names = [
      "0001-first-tables",
      "0002-deliveries",
      "0003-production",
      "0004-newest-payments",
      "0005-admin-actions",
      "0006-timeouts",
      "0007-attempt-times",
      "0008-no-job-queue",
      "0009-merchant-keys",
    ];
    expect(rows).toEqual(names.map((name) => ({ name })));
  });

  test("is migrated while another session uses the tables of the job queue, which then stay behind", async () => {
    await haveJobQueue(testDatabase);
    const other = new pg.Client(testDatabase.options.databaseUrl);
    await other.connect();
    await other.query("begin; select from pgboss.job");

    const { db } = await testDatabase.open();

    await other.end();
    expect(await listJobTables(db)).toEqual(["job"]);
  });

  test("is migrated by a role that owns all tables but those of the job queue, which then stay behind", async () => {
    await haveJobQueue(testDatabase);
    const databaseUrl = new URL(testDatabase.options.databaseUrl ?? "");
    const role = `${databaseUrl.pathname.slice(1)}_owner`;
    const administrator = new pg.Client(databaseUrl.href);
    await administrator.connect();
    await administrator.query(`create role ${role} login; grant all on schema public to ${role}`);
    const { rows } = await administrator.query("select tablename from pg_tables where schemaname = 'public'");
    for (const { tablename } of rows) await administrator.query(`alter table ${tablename} owner to ${role}`);
    databaseUrl.username = role;

    const { db, close } = await openDatabase({ ...testDatabase.options, databaseUrl: databaseUrl.href });
    const stayed = await listJobTables(db);
    await close();

    await administrator.query(
      `reassign owned by ${role} to postgres; drop owned by ${role}; drop role ${role}`,
    );
    await administrator.end();
    expect(stayed).toEqual(["job"]);
  });

  test("works on after the server has ended its idle connections", async () => {
    const { promise: broken, resolve } = Promise.withResolvers<Error>();
    const database = await openDatabase({ ...testDatabase.options, onConnectionError: resolve });
    await database.ping();

    await runStatement(
      inject("postgresUrl"),
      "select pg_terminate_backend(pid) from pg_stat_activity " +
        `where datname = '${new URL(testDatabase.options.databaseUrl ?? "").pathname.slice(1)}'`,
    );

    expect(await broken).toMatchObject({ code: "57P01" });
    await database.ping();
    await database.close();
  });

  test("can't be opened where no server responds", async () => {
    const options = { databaseUrl: "postgres://postgres@127.0.0.1:1/none", dataDir: "unused" };

    await expect(openDatabase(options)).rejects.toMatchObject({ code: "ECONNREFUSED" });
  });
});

/** Gives an empty database the tables of the release that handed deliveries to workers as jobs. */
async function haveJobQueue(testDatabase: TestDatabase): Promise<void> {
  await migrateUpTo("0007-attempt-times", testDatabase.options, async (older) => {
    await older.query("create schema pgboss", []);
    await older.query("create table pgboss.job (id integer primary key)", []);
  });
}

async function listJobTables(db: Store): Promise<string[]> {
  const { rows } = await sql<{ tablename: string }>`
    select tablename from pg_tables where schemaname = 'pgboss'`.execute(db);
  return rows.map(({ tablename }) => tablename);
}

describe("the embedded store of a data folder", () => {
  let testDatabase: TestDatabase;
  let dataDir: string;

  beforeEach(async () => {
    testDatabase = await createTestDatabase("embedded");
    dataDir = testDatabase.options.dataDir;
  });
  afterEach(() => testDatabase.remove());

  test("is refused to a second opener, and free again when the first one closes", async () => {
    const first = await testDatabase.open();

    await expect(openDatabase({ dataDir })).rejects.toEqual(new DataDirLockedError(dataDir));
    await first.close();

    await (await testDatabase.open()).ping();
  });

  test("names the folder that is in use, and what to do", () => {
    expect(new DataDirLockedError("/data").message).toBe(
      "The data folder /data is in use by another process. " +
        "Stop that process, or choose another folder with DATA_DIR.",
    );
  });

  test("is refused while another process holds it, even a stopped one, and taken over when that is killed", async () => {
    await using holder = await holdDatabase(dataDir);
    await expect(openDatabase({ dataDir })).rejects.toThrow(DataDirLockedError);
    holder.kill("SIGSTOP");
    await expect(openDatabase({ dataDir })).rejects.toThrow(DataDirLockedError);

    await holder.stop("SIGKILL");

    const { db } = await testDatabase.open();
    expect(await getDebit(db, { merchant: "acme", paymentId: "pay_stored" })).toMatchObject({
      status: "SETTLED",
    });
  });

  test("can be opened after an attempt that failed", async () => {
    const cluster = join(dataDir, "postgres");
    await rename(cluster, join(dataDir, "aside"));
    await writeFile(cluster, "not a folder");
    await expect(openDatabase({ dataDir })).rejects.toThrow();
    await rm(cluster);
    await rename(join(dataDir, "aside"), cluster);

    const database = await testDatabase.open();

    await database.ping();
  });
});

/** The remains of a process that was killed while it created a store; the next one must replace them. */
async function leaveUnfinished(dataDir: string): Promise<void> {
  await mkdir(join(dataDir, "postgres.unfinished"));
  await writeFile(join(dataDir, "postgres.unfinished", "PG_VERSION"), "18\n");
}

async function holdDatabase(dataDir: string) {
  const script = join(import.meta.dirname, "hold-database.ts");
  const holder = startProgram([process.execPath, script, dataDir]);
  await holder.untilPrinted(/\n/);
  return holder;
}
