import { randomBytes } from "node:crypto";
import { readdirSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import { openDatabase, openUnmigrated } from "../../../../server/storage/database/database.ts";
import { isUnavailable } from "../../../../server/storage/database/database-errors.ts";
import { createDataDir, createTestDatabase, dropDatabase } from "../../../helpers/databases.ts";
import { engines } from "../../../helpers/engine.ts";
import { runServer } from "../../../helpers/server.ts";

/** Segments of the write-ahead log. */
const SEGMENT = /^[0-9A-F]{24}$/;

describe("a data folder", () => {
  test.each<[name: string, damage: (postgres: string) => void, sentence: RegExp]>([
    [
      "whose write-ahead log is damaged",
      (postgres) => {
        const log = join(postgres, "pg_wal");
        const segments = readdirSync(log).filter((file) => SEGMENT.test(file));
        for (const segment of segments) writeFileSync(join(log, segment), Buffer.alloc(16 * 2 ** 20));
      },
      /^The data in \S+ is damaged\. Restore the folder from a backup, or choose another one with DATA_DIR\.\n$/,
    ],
    [
      "of another PostgreSQL",
      (postgres) => writeFileSync(join(postgres, "PG_VERSION"), "16\n"),
      /^The data in \S+ is of PostgreSQL 16, and this release reads 18\. Start the release .* DATA_DIR\.\n$/,
    ],
  ])("%s stops the start with one sentence, and the cause is in the log", async (_, damage, sentence) => {
    await using folder = await createDataDir();
    damage(join(folder.dataDir, "postgres"));

    const { code, stdout, stderr } = await runServer({
      DATA_DIR: folder.dataDir,
      PORT: "0",
      LOG_FORMAT: "json",
    });

    expect([code, stderr]).toEqual([1, expect.stringMatching(sentence)]);
    const logged = stdout.split("\n").filter((line) => line.includes("can't start"));
    expect(logged.map((line) => JSON.parse(line))).toMatchObject([
      { level: 60, err: { type: "StoreStartError", cause: { stack: expect.stringContaining("pglite") } } },
    ]);
  });
});

test.each(engines)("a database that a newer release has migrated says so (%s)", async (engine) => {
  await using database = await createTestDatabase(engine);
  const opened = await database.open();
  await sql`insert into kysely_migration (name, timestamp) values ('9999-later', '2099')`.execute(opened.db);
  await opened.close();

  await expect(openDatabase(database.options)).rejects.toMatchObject({
    name: "StoreStartError",
    message: expect.stringMatching(
      /^A newer release has migrated the database \(9999-later\)\. .*DATABASE_URL/,
    ),
    cause: expect.any(Error),
  });
});

test.each([
  [
    "user",
    (url: URL) => Object.assign(url, { username: "nobody_knows" }),
    /^PostgreSQL refuses the user\..*DATABASE_URL/,
  ],
  [
    "name",
    (url: URL) => Object.assign(url, { pathname: "/nowhere" }),
    /^The database does not exist\..*DATABASE_URL/,
  ],
])("an address with a wrong %s says what to correct", async (_, change, sentence) => {
  await using database = await createTestDatabase("postgres");
  const { href } = change(new URL(database.url));

  await expect(openDatabase({ databaseUrl: href, dataDir: "" })).rejects.toMatchObject({
    name: "StoreStartError",
    message: expect.stringMatching(sentence),
    cause: { message: expect.stringContaining("does not exist") },
  });
});

const startOn = (url: string) =>
  runServer({ DATABASE_URL: url, ENCRYPTION_KEY: randomBytes(32).toString("base64"), PORT: "0" });

test("a database in another encoding is refused, and named", async () => {
  await using database = await createTestDatabase("postgres", { empty: true });
  await using admin = openUnmigrated(database.url, {});
  const name = `test_latin1_${process.pid}`;
  await sql
    .raw(`create database ${name} template template0 encoding 'LATIN1' locale_provider libc locale 'C'`)
    .execute(admin.db);
  const url = new URL(name, database.url).href;

  const exit = await startOn(url);
  await dropDatabase(database.url, name);

  expect([exit.code, exit.stderr]).toEqual([1, expect.stringContaining("The database is in LATIN1")]);
});

test.each([
  ["connection limit 11", /^The database has too few connections.*needs 12/],
  ["set default_transaction_read_only = on", /^The database is read-only/],
  ["set search_path = nowhere", /^The schema that search_path names does not exist/],
])("a database with %s is refused, with what to correct", async (setting, sentence) => {
  await using database = await createTestDatabase("postgres");
  const opened = await database.open();
  const name = new URL(database.url).pathname.slice(1);
  await sql.raw(`alter database ${name} ${setting}`).execute(opened.db);
  await opened.close();

  const { code, stderr } = await startOn(database.url);

  expect([code, stderr]).toEqual([1, expect.stringMatching(sentence)]);
});

test("a database of another program stays as it is, and takes ours in a schema of its own", async () => {
  await using database = await createTestDatabase("postgres", { empty: true });
  await using admin = openUnmigrated(database.url, {});
  const run = (text: string) => sql.raw<{ name: string }>(text).execute(admin.db);
  await run("create table kysely_migration (name text); insert into kysely_migration values ('001-orders')");
  await run("create table payments (id integer); create view orders as select 1 as one");
  const ownSchema = { databaseUrl: `${database.url}?options=-csearch_path%3Drefunds`, dataDir: "" };

  await expect(openDatabase(database.options)).rejects.toMatchObject({
    name: "StoreStartError",
    message: expect.stringMatching(
      /another program \(kysely_migration, orders, payments\).*create schema refunds/,
    ),
  });
  await expect(openDatabase(ownSchema)).rejects.toThrow(/search_path.*create schema refunds/);
  await run("create schema refunds");
  for (const time of ["first", "second"]) {
    const opened = await openDatabase(ownSchema);
    expect([time, (await sql`select from refunds.payments`.execute(opened.db)).rows]).toEqual([time, []]);
    await opened.close();
  }

  const { rows } = await run(
    "select relname as name from pg_class where relnamespace = 'public'::regnamespace",
  );
  expect(rows.map(({ name }) => name).sort()).toEqual(["kysely_migration", "orders", "payments"]);
});

test.each(["", "postgres/pg_wal"])(
  "a data folder whose part '%s' is removed under a running server ends its statements within a second",
  async (part) => {
    await using folder = await createDataDir();
    const lost = Promise.withResolvers<unknown>();
    const database = await openDatabase({ dataDir: folder.dataDir, onWritesChange: lost.resolve });

    await rm(join(folder.dataDir, part), { recursive: true });

    expect(String(await lost.promise)).toMatch(/the data folder \S+ or a part of it, was removed/);
    const error = await sql`select 1`.execute(database.db).catch((reason: unknown) => reason);
    expect(isUnavailable(error)).toBe(true);
    await expect(database.checkWrites()).rejects.toThrow("PGlite is closed");
    await database.close().catch(() => {});
  },
);
