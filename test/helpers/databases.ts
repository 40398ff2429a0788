/** Creates a database for a test as a copy of one with empty tables. */
import { randomUUID } from "node:crypto";
import { cpSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { sql } from "kysely";
import { expect, inject, onTestFinished } from "vitest";
import { type Database, type DatabaseOptions, openDatabase } from "../../server/storage/database/database.ts";
import type { Db } from "../../server/storage/database/db-types.ts";
import { MIGRATIONS, type Migrations } from "../../server/storage/database/migrations.ts";
import type { PaymentKey } from "../../server/storage/payments/payment-record.ts";
import type { Engine } from "./engine.ts";
import { closeDatabase, runStatement } from "./postgres.ts";
import { forSuite } from "./suite.ts";

/** For tests that are not about limits: a busy machine must never reach them. */
export const GENEROUS_LIMITS = { connectMs: 120_000, statementMs: 120_000, backgroundMs: 120_000 };

/** A database for one test file, with empty tables. */
export type TestDatabase = AsyncDisposable & {
  readonly options: DatabaseOptions;
  /** Its address, on PostgreSQL. */
  readonly url: string;
  /** Opens it, on PostgreSQL also several times at once: each with its own pool, as replicas do. */
  open(options?: Partial<DatabaseOptions>): Promise<Database>;
  /** Closes what was opened and removes the database with all its files. */
  remove(): Promise<void>;
};

/** Creates a database; by default with the tables of the latest migration. */
export async function createTestDatabase(engine: Engine, { empty = false } = {}): Promise<TestDatabase> {
  return engine === "embedded" ? createEmbedded(empty) : createOnPostgres(empty);
}

/** A database for all tests of a suite, opened once, or with `forEachTest` one for each of them. */
export function useDatabase(engine: Engine, lifetime = forSuite): Database & Pick<TestDatabase, "url"> {
  return lifetime(async () => {
    const { open, url, remove } = await createTestDatabase(engine);
    return { ...(await open()), url, [Symbol.asyncDispose]: remove };
  });
}

/** The name of a migration of the release after this one. */
const LATER_MIGRATION = "9999-later";

/** All migrations, and a later one that runs these statements. */
export function laterMigrations(statements: readonly string[]): Migrations {
  const later: Migrations[string] = {
    async up(db) {
      for (const statement of statements) await sql.raw(statement).execute(db);
    },
  };
  return { ...MIGRATIONS, [LATER_MIGRATION]: later };
}

/** A transaction that the test ends, or that ends with the test. */
export async function beginTransaction(store: Db) {
  const transaction = await store.startTransaction().execute();
  onTestFinished(async () => {
    if (!transaction.isCommitted && !transaction.isRolledBack) await transaction.rollback().execute();
  });
  return transaction;
}

/** A transaction that holds the lock of a payment. */
export async function lockPayment(store: Db, { merchant, paymentId }: PaymentKey) {
  const transaction = await beginTransaction(store);
  await sql`select from payments where payment_id = ${paymentId} and merchant = ${merchant} for update`.execute(
    transaction,
  );
  return transaction;
}

async function createEmbedded(empty: boolean): Promise<TestDatabase> {
  const dataDir = await makeDataDir({ empty });
  return toTestDatabase({ dataDir }, () => rm(dataDir, { recursive: true }));
}

async function createOnPostgres(empty: boolean): Promise<TestDatabase> {
  const name = `test_${randomUUID().replaceAll("-", "")}`;
  const url = inject("postgresUrl");
  await runStatement(
    url,
    `create database ${name} template ${empty ? "template0" : inject("postgresTemplate")}`,
  );
  return toTestDatabase({ databaseUrl: new URL(name, url).href, dataDir: "unused" }, () =>
    dropDatabase(url, name),
  );
}

/** The maintenance process of a new database can't be ended while it starts, so one attempt may fail. */
export async function dropDatabase(url: string, name: string): Promise<void> {
  for (;;) {
    try {
      return await runStatement(url, `drop database ${name} with (force)`);
    } catch (error) {
      if (!/is being accessed by other users/.test(String(error))) throw error;
    }
  }
}

function toTestDatabase(options: DatabaseOptions, drop: () => Promise<void>): TestDatabase {
  const opened: Database[] = [];
  const remove = async () => {
    await Promise.all(opened.map((database) => database.close()));
    await drop();
  };
  return {
    options,
    url: options.databaseUrl ?? "",
    async open(more) {
      const database = await openDatabase({ limits: GENEROUS_LIMITS, ...options, ...more });
      opened.push(database);
      return database;
    },
    remove,
    [Symbol.asyncDispose]: remove,
  };
}

/** A new data folder with tables, or an `empty` one; the caller removes it. */
export async function makeDataDir({ empty = false } = {}): Promise<string> {
  const dataDir = await mkdtemp(join(inject("storesDir"), "data-"));
  // All at once: a promise for each of a thousand small files takes several times as long.
  if (!empty) cpSync(inject("embeddedTemplateDir"), dataDir, { recursive: true });
  return dataDir;
}

/** A data folder with tables that outlives the processes on it. */
export async function createDataDir(): Promise<AsyncDisposable & { readonly dataDir: string }> {
  const dataDir = await makeDataDir();
  return { dataDir, [Symbol.asyncDispose]: () => rm(dataDir, { recursive: true, force: true }) };
}

/**
 * How many pages some work reads in a transaction, from memory or disk, those of indexes included.
 * @param tables a regular expression of the names of the tables and indexes that count
 */
export async function pagesOf(
  store: Db,
  tables: string,
  work: (store: Db) => Promise<void>,
): Promise<number> {
  return store.transaction().execute(async (transaction) => {
    const before = await readPages(transaction, tables);
    await work(transaction);
    return (await readPages(transaction, tables)) - before;
  });
}

async function readPages(store: Db, tables: string): Promise<number> {
  const { rows } = await sql<{ pages: number }>`
    select sum(pg_stat_get_xact_blocks_fetched(oid))::integer as pages
    from pg_class where relname ~ ${tables}`.execute(store);
  return rows[0]?.pages ?? 0;
}

type RefundRow = { readonly of: string; readonly cents: number; readonly status?: string };

/** The text of a statement that adds refunds without asking whether the payments allow them. */
export function refundInsert(merchant: string, refunds: readonly RefundRow[]): string {
  const rows = refunds.map(({ of, cents, status = "AUTHORIZED" }) => {
    const error = status === "TERMINAL_FAILED" ? "'X', 'X'" : "null, null";
    return `('rfd_${randomUUID()}', '${merchant}', 'REFUND', '${status}', ${cents}, '${randomUUID()}', '${of}',
      ${error}, '[{"status": "${status}"}]', 1, now())`;
  });
  return `insert into payments (payment_id, merchant, kind, status, amount_cents, request_key, original_payment_id,
    error_code, error_message, history, sequence, created_at) values ${rows.join(", ")}`;
}

/** Whether the database accepts a statement; fails if it is refused for any reason but its values. */
export async function accepts(db: Db, statement: string): Promise<boolean> {
  try {
    await sql.raw(statement).execute(db);
    return true;
  } catch (error) {
    expect(error).toMatchObject({ code: expect.stringMatching(/^(23514|23503)$/) });
    return false;
  }
}

/** Changes a status together with the columns that the table's checks tie to it. */
export const statusChange = (paymentId: string, to: string) => `
  update payments set status = '${to}', history = history || '{"status": "${to}"}',
    settled_at = case when kind = 'DEBIT' then coalesce(settled_at, now()) end,
    error_code = case when '${to}' = 'TERMINAL_FAILED' then 'X' end,
    error_message = case when '${to}' = 'TERMINAL_FAILED' then 'X' end
  where payment_id = '${paymentId}'`;

/** Every row of every table in every schema as text; bytes are hexadecimal digits in it. */
export async function dumpDatabase(db: Db): Promise<string> {
  const { rows: tables } = await sql<{ name: string }>`
    select quote_ident(table_schema) || '.' || quote_ident(table_name) as name from information_schema.tables
    where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')`.execute(db);
  const names = tables.map(({ name }) => name);
  for (const expected of ["public.subscriptions", "public.events"]) {
    if (!names.includes(expected)) throw new Error(`no table ${expected} among ${names.join(", ")}`);
  }
  const texts = await Promise.all(
    names.map(async (name) => {
      const { rows } = await sql<{ text: string }>`select t::text as text from ${sql.raw(name)} t`.execute(
        db,
      );
      return [name, ...rows.map(({ text }) => text)].join("\n");
    }),
  );
  return texts.join("\n");
}

/** The forms in which a secret could have been written somewhere. */
export function formsOf(secret: string | Buffer): string[] {
  const bytes = Buffer.from(secret);
  const encoded = (["hex", "base64", "base64url"] as const).map((form) => bytes.toString(form));
  if (typeof secret !== "string") return [...encoded, bytes.toString("latin1")];
  return [...encoded, secret, encodeURIComponent(secret)];
}

/** A copy of a database as it was, on the same PostgreSQL server. */
export type Backup = AsyncDisposable & {
  /** Replaces the database by the copy; its connections are ended. */
  restore(): Promise<void>;
  /** Its address. */
  readonly url: string;
};

/** Copies a database that no server uses. */
export async function backUp(databaseUrl: string): Promise<Backup> {
  const name = new URL(databaseUrl).pathname.slice(1);
  const copy = `backup_${randomUUID().replaceAll("-", "")}`;
  const server = inject("postgresUrl");
  await closeDatabase(server, name);
  await runStatement(server, `create database ${copy} template ${name}`);
  await runStatement(server, `alter database ${name} allow_connections true`);
  return {
    url: new URL(copy, databaseUrl).href,
    async restore() {
      await dropDatabase(server, name);
      await runStatement(server, `create database ${name} template ${copy}`);
    },
    [Symbol.asyncDispose]: () => dropDatabase(server, copy),
  };
}
