import { setTimeout } from "node:timers/promises";
import { type Kysely, type QueryExecutorProvider, sql } from "kysely";

/*
 * From here on the merchant is part of every primary key, so that the tables can be spread over machines by merchant.
 *
 * Servers of the release before go on writing meanwhile. So everything that takes long is done first, outside a transaction
 * and under locks that no writer waits for (`prepare`); what is left are changes of the catalogue (`up`). Where there are
 * no rows yet, or no other process as on the embedded store, `up` does all of it.
 */

/** The tables whose primary key gets the merchant, and that key. The id comes first, because scans follow the order of ids. */
const KEYS = {
  events: "event_id, merchant",
  subscriptions: "subscription_key, merchant",
  deliveries: "webhook_id, merchant",
  delivery_attempts: "webhook_id, number, merchant",
} as const;

const TABLES = Object.keys(KEYS).join(", ");

/** Indexes and constraints that exist between the preparation and the change. */
const indexOf = (table: string) => `${table}_with_merchant`;
const NOT_NULL = "delivery_attempts_merchant_known";
const REFERENCE = "delivery_attempts_delivery_fkey";

const ADD_MERCHANT = `alter table delivery_attempts add column if not exists merchant text collate "C"`;

const ADD_REFERENCE = `alter table delivery_attempts add constraint ${REFERENCE}
  foreign key (webhook_id, merchant) references deliveries (webhook_id, merchant) on delete cascade`;

/** Servers of the release before write attempts without a merchant. */
const FILL_IN = [
  `create or replace function fill_in_merchant() returns trigger language plpgsql as $$
    begin
      new.merchant := (select merchant from deliveries where webhook_id = new.webhook_id);
      return new;
    end $$`,
  `create or replace trigger delivery_attempts_fill_in_merchant before insert on delivery_attempts
    for each row when (new.merchant is null) execute function fill_in_merchant()`,
];

/** For the transaction that has locked the tables. */
const CHANGE = [
  "alter table delivery_attempts drop constraint delivery_attempts_webhook_id_fkey",
  "alter table delivery_attempts alter column merchant set not null",
  `alter table delivery_attempts drop constraint if exists ${NOT_NULL}`,
  ...Object.keys(KEYS).map(
    (table) => `alter table ${table} drop constraint ${table}_pkey,
      add constraint ${table}_pkey primary key using index ${indexOf(table)}`,
  ),
];

export const merchantKeys = {
  /**
   * Prepares a database with servers at work. Interrupted and run again, it continues. One process at a time may run it.
   *
   * @param db one connection, without a transaction
   */
  async prepare<Tables>(db: Kysely<Tables>): Promise<void> {
    if (!(await isNeeded(db))) return;
    await withoutHoldingUp(db, [ADD_MERCHANT, ...FILL_IN]);
    await fillIn(db);
    for (const [table, key] of Object.entries(KEYS))
      await buildIndex(db, indexOf(table), `${table} (${key})`);
    await addConstraint(
      db,
      NOT_NULL,
      `alter table delivery_attempts add constraint ${NOT_NULL} check (merchant is not null)`,
    );
    await addConstraint(db, REFERENCE, ADD_REFERENCE);
  },

  async up(db: Kysely<unknown>): Promise<void> {
    await sql.raw(LOCK_IN_TURN).execute(db);
    if ((await readConstraint(db, REFERENCE)) === undefined) {
      await sql.raw(ADD_MERCHANT).execute(db);
      await sql`
        update delivery_attempts a set merchant = d.merchant from deliveries d where d.webhook_id = a.webhook_id`.execute(
        db,
      );
      for (const [table, key] of Object.entries(KEYS)) {
        await sql.raw(`create unique index ${indexOf(table)} on ${table} (${key})`).execute(db);
      }
      await sql.raw(ADD_REFERENCE).execute(db);
    }
    for (const statement of CHANGE) await sql.raw(statement).execute(db);
  },
};

/** Whether there are tables of the release before. */
async function isNeeded(db: QueryExecutorProvider): Promise<boolean> {
  const { rows } = await sql`
    select from pg_constraint
    where conrelid = to_regclass('delivery_attempts') and conname = 'delivery_attempts_webhook_id_fkey'`.execute(
    db,
  );
  return rows.length > 0;
}

/** How long calls may wait behind a statement that waits for a table; a call has four seconds. */
const LOCK_TIMEOUT = "300ms";

/** How long calls go on before the next try, in milliseconds. */
const PAUSE_MS = 1_000;

/**
 * Locks the tables. A session that waits for a lock holds up all that come later, so it gives up soon, and tries again until no
 * transaction is in its way.
 */
const LOCK_IN_TURN = `
  do $$ begin
    loop
      begin
        set local lock_timeout = '${LOCK_TIMEOUT}';
        lock table ${TABLES} in access exclusive mode;
        exit;
      exception when lock_not_available or deadlock_detected then
        perform pg_sleep(${PAUSE_MS / 1000});
      end;
    end loop;
    set local lock_timeout = 0;
  end $$`;

/** Runs statements that lock a table, in one transaction, in the same way. */
async function withoutHoldingUp<Tables>(db: Kysely<Tables>, statements: readonly string[]): Promise<void> {
  for (;;) {
    try {
      await db.transaction().execute(async (transaction) => {
        await sql.raw(`set local lock_timeout = '${LOCK_TIMEOUT}'`).execute(transaction);
        for (const statement of statements) await sql.raw(statement).execute(transaction);
      });
      return;
    } catch (error) {
      if (!isLocked(error)) throw error;
      await setTimeout(PAUSE_MS);
    }
  }
}

/** PostgreSQL's codes for a lock that was not free in time, and for a deadlock. */
function isLocked(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "55P03" || error.code === "40P01");
}

const BATCH_SIZE = 1_000;

/** Gives every attempt its merchant, in the order of the primary key, in small transactions. */
async function fillIn(db: QueryExecutorProvider): Promise<void> {
  for (let after: string | null = ""; after !== null; ) {
    const { rows }: { rows: { last: string | null }[] } = await sql<{ last: string | null }>`
      with batch as materialized (
        select webhook_id from delivery_attempts where webhook_id > ${after}
        order by webhook_id limit ${BATCH_SIZE}::integer
      ), filled as (
        update delivery_attempts a set merchant = d.merchant from deliveries d
        where a.webhook_id = any(array(select webhook_id from batch)) and a.merchant is null
          and d.webhook_id = a.webhook_id
      )
      select max(webhook_id) as last from batch`.execute(db);
    after = rows[0]?.last ?? null;
  }
}

/** Builds a unique index without holding up writers. */
async function buildIndex(db: QueryExecutorProvider, name: string, on: string): Promise<void> {
  // What is left of a build that was interrupted.
  const { rows } = await sql`
    select from pg_index where indexrelid = to_regclass(${name}) and not indisvalid`.execute(db);
  if (rows.length > 0) await sql.raw(`drop index concurrently ${name}`).execute(db);
  await sql.raw(`create unique index concurrently if not exists ${name} on ${on}`).execute(db);
}

/** Adds a constraint to the attempts, and checks it against their rows without holding up writers. */
async function addConstraint<Tables>(db: Kysely<Tables>, name: string, statement: string): Promise<void> {
  const constraint = await readConstraint(db, name);
  if (constraint?.convalidated) return;
  if (!constraint) await withoutHoldingUp(db, [`${statement} not valid`]);
  await sql.raw(`alter table delivery_attempts validate constraint ${name}`).execute(db);
}

async function readConstraint(db: QueryExecutorProvider, name: string) {
  const { rows } = await sql<{ convalidated: boolean }>`
    select convalidated from pg_constraint
    where conrelid = 'delivery_attempts'::regclass and conname = ${name}`.execute(db);
  return rows[0];
}
