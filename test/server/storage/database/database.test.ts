import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { sql } from "kysely";
import { describe, expect, inject, onTestFinished, test } from "vitest";
import { IN_MEMORY } from "../../../../server/config/database-and-retention.ts";
import { type Database, openDatabase } from "../../../../server/storage/database/database.ts";
import { createTestDatabase } from "../../../helpers/databases.ts";
import { engines } from "../../../helpers/engine.ts";
import { runStatement } from "../../../helpers/postgres.ts";
import { startProgram } from "../../../helpers/process.ts";
import { createPayment, getDebit } from "../../../helpers/store-factories.ts";
import { forEachTest } from "../../../helpers/suite.ts";

describe.each(engines)("a database on %s", (engine) => {
  test("gets its tables when it is opened, and keeps its rows when it is opened again", async () => {
    await using testDatabase = await createTestDatabase(engine, { empty: true });
    if (engine === "embedded") await leaveUnfinished(testDatabase.options.dataDir);
    const first = await testDatabase.open();
    const payment = await createPayment(first.db, { merchant: "acme" });
    await first.close();

    const second = await testDatabase.open();

    expect(second.embedded).toBe(engine === "embedded");
    expect(await getDebit(second.db, payment)).toEqual(payment);
  });
});

describe("a database on postgres", () => {
  const testDatabase = forEachTest(() => createTestDatabase("postgres", { empty: true }));

  test("works on after the server has ended its idle connections", async () => {
    const { promise: broken, resolve } = Promise.withResolvers<Error>();
    const database = await openDatabase({ ...testDatabase.options, onConnectionError: resolve });
    await database.readTime();

    await runStatement(
      inject("postgresUrl"),
      "select pg_terminate_backend(pid) from pg_stat_activity " +
        `where datname = '${new URL(testDatabase.url).pathname.slice(1)}'`,
    );

    expect(await broken).toMatchObject({ code: "57P01" });
    await database.readTime();
    await database.close();
  });
});

describe("two stores in memory", () => {
  test("share the plan of a repeated statement, each on its own rows, also after it has failed", async () => {
    const first = await openDatabase({ dataDir: IN_MEMORY });
    const second = await openDatabase({ dataDir: IN_MEMORY });
    for (const { close } of [first, second]) onTestFinished(close);
    const hold = ({ db }: Database, merchant: string, reason: string) =>
      sql`insert into holds (merchant, reason) values (${merchant}, ${reason})`.execute(db);
    for (const merchant of ["acme", "globex", "initech"]) {
      await hold(first, merchant, "one");
      await hold(second, merchant, "other");
    }

    await expect(hold(first, "acme", "one")).rejects.toMatchObject({ code: "23505" });
    await hold(second, "umbrella", "other");

    const reasons = async ({ db }: Database) =>
      (await sql<{ reason: string }>`select reason from holds`.execute(db)).rows.map(({ reason }) => reason);
    expect(await reasons(first)).toEqual(["one", "one", "one"]);
    expect(await reasons(second)).toEqual(["other", "other", "other", "other"]);
    const plans = sql`select from pg_prepared_statements where statement like '%into holds%'`;
    expect((await plans.execute(first.db)).rows).toHaveLength(1);
  });
});

describe("the embedded store of a data folder", () => {
  const testDatabase = forEachTest(() => createTestDatabase("embedded"));

  test("is refused to a second opener, and free again when the first one closes", async () => {
    const { dataDir } = testDatabase.options;
    const first = await testDatabase.open();

    await expect(openDatabase({ dataDir })).rejects.toThrow(`The data folder ${dataDir} is in use`);
    await first.close();

    await (await testDatabase.open()).readTime();
  });

  test("is refused while another process holds it, even a stopped one, and taken over when that is killed", async () => {
    const { dataDir } = testDatabase.options;
    await using holder = await holdDatabase(dataDir);
    await expect(openDatabase({ dataDir })).rejects.toThrow("is in use by another process");
    holder.kill("SIGSTOP");
    await expect(openDatabase({ dataDir })).rejects.toThrow("is in use by another process");

    await holder.stop("SIGKILL");

    const { db } = await testDatabase.open();
    expect(await getDebit(db, { merchant: "acme", paymentId: "pay_stored" })).toMatchObject({
      status: "SETTLED",
    });
  });

  test("can be opened after an attempt that failed", async () => {
    const { dataDir } = testDatabase.options;
    const cluster = join(dataDir, "postgres");
    await rename(cluster, join(dataDir, "aside"));
    await writeFile(cluster, "not a folder");
    await expect(openDatabase({ dataDir })).rejects.toThrow();
    await rm(cluster);
    await rename(join(dataDir, "aside"), cluster);

    const database = await testDatabase.open();

    await database.readTime();
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
