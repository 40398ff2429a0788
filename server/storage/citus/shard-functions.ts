import { createHash } from "node:crypto";
import { Kysely, PostgresDialect, type RawBuilder, sql } from "kysely";
import pg from "pg";
import { waitForLock } from "../database/advisory-locks.ts";
import type { Database } from "../database/database.ts";
import type { Db } from "../database/db-types.ts";
import { loadStatement, saveStatement } from "../payments/save-refunds.ts";
import { claimStatement, sharesStatement } from "../webhooks/claim-deliveries.ts";
import { recordStatement } from "../webhooks/record-attempts.ts";

/*
 * Functions in the databases of a Citus cluster: each runs a statement of plain PostgreSQL on the tables of one shard, for the items of
 * many merchants in one call to each machine. Through Citus itself, a statement would need a second form, for one merchant at a time.
 */

/** Whether the tables of a database are distributed by Citus, an extension of PostgreSQL that spreads them over machines. */
export async function isDistributed({ db, embedded }: Pick<Database, "db" | "embedded">): Promise<boolean> {
  if (embedded) return false;
  const { rows } = await sql`select where to_regclass('pg_dist_partition') is not null`.execute(db);
  if (rows.length === 0) return false;
  const { rows: tables } = await sql`
    select from pg_dist_partition
    where logicalrelid = to_regclass('payments') and partmethod = 'h'`.execute(db);
  return tables.length > 0;
}

const listOf = (part: string) => sql`array(select json_array_elements_text(further -> ${sql.lit(part)}))`;

/**
 * The plain statements, on the tables of one shard, which are ordinary tables. Each runs inside a generated function
 * `(items json, further json)`, and reads its values from these two. Triggers don't run on shards, so the statement that saves
 * refunds also updates `refunded_cents`, which `add_refunds` does on plain PostgreSQL; it says there why by comparisons with arrays.
 */
const STATEMENTS = {
  loadOriginals: loadStatement(sql`items`),
  saveRefunds: saveStatement(
    sql`items`,
    sql`(further ->> 'lockTimeoutMs')`,
    sql`counted as (
      update payments p set refunded_cents = p.refunded_cents + change.cents
      from (
        select s.original_payment_id, s.merchant, sum(s.amount_cents)::bigint as cents
        from refund r join source s on s.payment_id = r.payment_id and s.merchant = r.merchant
        where r.status <> 'TERMINAL_FAILED' group by s.original_payment_id, s.merchant
      ) as change
      where p.payment_id = any(array[change.original_payment_id]) and p.merchant = any(array[change.merchant])
    ), `,
  ),
  recordAttempts: recordStatement({
    rows: sql`items`,
    states: sql`${listOf("states")}`,
    onlyOnce: sql`${listOf("onlyOnce")}`,
    dueAfterMs: sql`${listOf("dueAfterMs")}`,
  }),
  readShares: sharesStatement({
    realNow: sql`(further ->> 'realNow')`,
    merchants: sql`array(select item ->> 'merchant' from json_array_elements(items) as item)`,
    ended: sql`${listOf("ended")}`,
  }),
  claimDeliveries: claimStatement({
    limits: sql`(select * from json_to_recordset(items) as item ("subscriptionKey" text, merchant text, "limit" integer))`,
    now: sql`(further ->> 'now')`,
    leaseMs: sql`(further ->> 'leaseMs')`,
  }),
};

/** Tables whose rows belong to one merchant. Each comes after the one that it refers to. */
const MERCHANTS = "payments payouts_waiting events subscriptions deliveries delivery_attempts";
export const BY_MERCHANT = MERCHANTS.split(" ");

const SHARD_TABLES = [...BY_MERCHANT, "clock", "holds"];

/** The names of the tables of a shard, which include those of which every machine has all rows. */
export type ShardTables = Readonly<Record<string, string>>;

const NAMES_OF_TABLES = new RegExp(`\\b(?:${SHARD_TABLES.join("|")})\\b`, "g");

/** A statement with the names of a shard's tables. */
export function nameTables(text: string, tables: ShardTables): string {
  return text.replace(NAMES_OF_TABLES, (name) => tables[name] ?? name);
}

/** Only for text: it never connects. */
const writer = new Kysely({ dialect: new PostgresDialect({ pool: () => Promise.reject() }) });

/** The text of a statement; its values are those that never change, such as the name of a channel. */
function toText(statement: RawBuilder<unknown>, tables: ShardTables): string {
  const { sql: text, parameters } = statement.compile(writer);
  const literals = parameters.map((value) => sql.lit(value).compile(writer).sql);
  return nameTables(text, tables).replace(/\$(\d+)/g, (_, number) => literals[Number(number) - 1] ?? "");
}

const MOVED = "is not on this machine";

/** Whether a call did nothing because a shard of its items is on another machine by now; it is a conflict, so it is repeated. */
export function hasMoved(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.message.endsWith(MOVED);
}

/**
 * Lets a transaction use the tables of some shards until it ends, as Citus does for its own statements: they can't leave this
 * machine meanwhile, and a transaction that locks a whole table waits. Only the owner of the tables may take these locks, so it runs with
 * the owner's rights, for every role that may add payments. A statement that follows sees everything that was committed before.
 */
const enterShards = (names: ShardTables) => `
  (shards bigint[]) returns void language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
  begin
    if not has_any_column_privilege(session_user, '${names.payments}', 'insert') then
      raise exception 'only roles that may add payments use their shards' using errcode = 'insufficient_privilege';
    end if;
    perform lock_shard_metadata(5, shards);
    perform lock_relation_if_exists('${names.holds}', 'ACCESS SHARE'),
      lock_relation_if_exists('${names.payments}', 'ROW EXCLUSIVE'),
      lock_relation_if_exists('${names.events}', 'ROW EXCLUSIVE'),
      lock_relation_if_exists('${names.deliveries}', 'ROW EXCLUSIVE');
    if (
      select count(*) from pg_dist_placement placement join pg_dist_local_group here on here.groupid = placement.groupid
      where placement.shardid = any(shards)
    ) < cardinality(shards) then
      raise exception 'one of the shards % ${MOVED}', shards using errcode = 'serialization_failure';
    end if;
  end $$`;

/**
 * Runs a statement on some shards of this machine, each with its part of the items, and returns the rows of all. The ids are in
 * their order, so two calls never wait for each other. The settings are for plans that fit when a small shard has grown.
 */
const ON_SHARDS = `(work text, shards bigint[], items json, further json) returns json language plpgsql
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set jit = off as $$
  declare
    parts json[];
    results json[] := '{}';
  begin
    select array_agg(part.value order by part.position) into parts
      from json_array_elements(items) with ordinality as part (value, position);
    perform set_config('lock_timeout', coalesce(further ->> 'lockTimeoutMs', '0'), true);
    perform {enterShards}(shards);
    for index in 1 .. cardinality(shards) loop
      results := results || {onShard}(shards[index], work, parts[index], further);
    end loop;
    return array_to_json(results);
  end $$`;

function onShard(tables: ShardTables): string {
  const branches = Object.entries(STATEMENTS).map(
    ([name, statement]) => `if work = '${name}' then
      for done in ${toText(statement, tables)} loop
        results := results || to_json(done);
      end loop;
    els`,
  );
  return `(work text, items json, further json) returns json language plpgsql as $$
  declare
    done record;
    results json[] := '{}';
  begin
    ${branches.join("")}e
      raise exception 'there is no work %', work;
    end if;
    return array_to_json(results);
  end $$`;
}

/** Runs it on the shard with this id. A name that is put together when it runs would be planned each time. */
const onAnyShard = (shards: readonly string[]) => `
  (shard bigint, work text, items json, further json) returns json language plpgsql as $$
  begin
    case shard
      ${shards.map((shard) => `when ${shard} then return {onShard}_${shard}(work, items, further);`).join("\n      ")}
    end case;
  end $$`;

const THEMSELVES: ShardTables = Object.fromEntries(SHARD_TABLES.map((table) => [table, table]));

/** A part of the hash of all their texts, so that servers of two releases, with different functions, can run side by side. */
const RELEASE = createHash("sha256")
  .update([ON_SHARDS, enterShards(THEMSELVES), onShard(THEMSELVES), onAnyShard([])].join())
  .digest("hex")
  .slice(0, 8);

const NAMES = {
  onShards: `on_shards_${RELEASE}`,
  enterShards: `enter_shards_${RELEASE}`,
  /** A shard follows in the name of what runs on that one. */
  onShard: `on_shard_${RELEASE}`,
};

/**
 * Creates the functions of this release in a database with distributed tables, where they are missing. Every machine has those of all
 * shards, so a shard finds its own wherever it moves.
 */
export async function installFunctions(db: Db): Promise<void> {
  if ((await findMissing(db)).length === 0) return;
  await db.transaction().execute(async (transaction) => {
    await waitForLock(transaction, "functions", "transaction");
    for (const [name, definition] of await findMissing(transaction)) {
      const text = definition.replace(/\{(\w+)\}/g, (_, key) => NAMES[key as keyof typeof NAMES]);
      await sql.raw(`create or replace function ${name} ${text}`).execute(transaction);
      await sql`
        select create_distributed_function(oid::regprocedure)
        from pg_proc where proname = ${name}`.execute(transaction);
    }
  });
}

/** Also those that are on the coordinator only, as after a restored dump. */
async function findMissing(db: Db): Promise<[string, string][]> {
  const shards = await readShards(db);
  const { rows: names } = await sql<{ names: ShardTables }>`
    select json_object_agg(relname, format('%s.%I', relnamespace::regnamespace, relname)) as names
    from pg_class where oid = any(${SHARD_TABLES}::text[]::regclass[])`.execute(db);
  const all = new Map([
    [NAMES.enterShards, enterShards(names[0]?.names ?? THEMSELVES)],
    [NAMES.onShards, ON_SHARDS],
    ...shards.map(({ shard, tables }) => [`${NAMES.onShard}_${shard}`, onShard(tables)] as const),
    [NAMES.onShard, onAnyShard(shards.map(({ shard }) => shard))],
  ]);
  const { rows } = await sql<{ proname: string }>`
    select proname from pg_proc join pg_dist_object on classid = 'pg_proc'::regclass and objid = pg_proc.oid
    where proname = any(${[...all.keys()]}::text[])`.execute(db);
  const known = new Set(rows.map(({ proname }) => proname));
  if (all.size === known.size) return [];
  // The last one knows the shards, so it is outdated when one is new.
  return [...all].filter(([name]) => !known.has(name) || name === NAMES.onShard);
}

/** A shard of the payments, with the names of all tables for its merchants. */
export type Shard = { readonly shard: string; readonly tables: ShardTables };

export async function readShards(db: Db): Promise<Shard[]> {
  const { rows } = await sql<Shard>`
    select p.shardid::text as shard, json_object_agg(c.relname, shard_name(own.logicalrelid, own.shardid)) as tables
    from pg_dist_shard p
    join pg_dist_shard own on own.shardminvalue = p.shardminvalue or own.shardminvalue is null
    join pg_class c on c.oid = own.logicalrelid
    where p.logicalrelid = 'payments'::regclass and own.logicalrelid = any(${SHARD_TABLES}::text[]::regclass[])
    group by p.shardid order by p.shardid`.execute(db);
  return rows;
}

export type ShardCall = {
  readonly work: keyof typeof STATEMENTS;
  readonly items: readonly { readonly merchant: string }[];
  /** Called when there is a connection. If it throws, nothing is done. */
  readonly further?: () => object;
};

/** Runs a statement with items, in one call to the machine that has the rows of all. Returns the rows, which are of JSON. */
export function callOnShards<Row>(
  db: Db,
  shardOf: ReadonlyMap<string, number>,
  { work, items, further = () => ({}) }: ShardCall,
): Promise<Row[]> {
  const parts = Map.groupBy(items, ({ merchant }) => shardOf.get(merchant) ?? 0); // shard 0 counts as moved
  const inOrder = [...parts].sort(([a], [b]) => a - b);
  return db.connection().execute(async (connection) => {
    const { rows } = await sql<{ results: Row[][] }>`
      select ${sql.raw(NAMES.onShards)}(${work}::text, ${inOrder.map(([shard]) => shard)}::bigint[],
        ${JSON.stringify(inOrder.map(([, part]) => part))}::json,
        ${JSON.stringify(further())}::json) as results`.execute(connection);
    return (rows[0]?.results ?? []).flat();
  });
}
