import { createHash } from "node:crypto";
import { type QueryExecutorProvider, sql } from "kysely";
import pg from "pg";
import { ADVISORY_LOCKS } from "../database/advisory-locks.ts";
import type { Store } from "../database/tables.ts";
import { type OfMerchant, type Statements, statementsOf } from "../statements/statements.ts";
import { SHARD_TABLES, type ShardStatement, type ShardTables, writeStatements } from "./shard-statements.ts";

const MOVED = "is not on this machine";

/**
 * Lets a transaction use the tables of some shards until it ends, as Citus does for its own statements: they can't leave this
 * machine meanwhile, and a transaction that locks a whole table waits. Only the owner of the tables may take these locks, so it runs with
 * the owner's rights, for whoever may add payments. A statement that follows sees everything that was committed before.
 */
const enterShards = (
  names: ShardTables,
) => `(shards bigint[]) returns void language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
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

/** Whether a call did nothing because a shard of its items is on another machine by now; it is a conflict, so it is repeated. */
export function hasMoved(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.message.endsWith(MOVED);
}

/**
 * Does a kind of work on some shards of this machine, each with its part of the items, and returns the rows of all. The ids are in
 * their order, so two calls never wait for each other. By its first argument Citus passes a call at the coordinator on to the machine of
 * that merchant, to whom all items must belong then; such a call names no shards. The plans of its statements are made once for each
 * connection, for whatever items follow; one that reads a whole small shard would stay in use when the shard has grown.
 */
const ON_SHARDS = `(merchant text, work text, ids bigint[], items json, further json) returns json language plpgsql
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set jit = off as $$
  declare
    shards bigint[] := coalesce(ids, array[get_shard_id_for_distribution_column('payments', merchant)]);
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

/** Does it on one shard. */
function onShard(tables: ShardTables): string {
  const branches = writeStatements(tables).map(
    ([name, text]) => `if work = '${name}' then
      for done in ${text} loop
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

/** Does it on the shard with this id. A text with the name of its function would be planned each time. */
const onAnyShard = (
  shards: readonly string[],
) => `(shard bigint, work text, items json, further json) returns json
  language plpgsql as $$
  begin
    case shard
      ${shards.map((shard) => `when ${shard} then return {onShard}_${shard}(work, items, further);`).join("\n      ")}
    end case;
  end $$`;

const THEMSELVES = Object.fromEntries(SHARD_TABLES.map((table) => [table, table])) as ShardTables;

/** A part of the hash of all their texts, so that servers of two releases, with different functions, can run side by side. */
const RELEASE = createHash("sha256")
  .update([ON_SHARDS, enterShards(THEMSELVES), onShard(THEMSELVES), onAnyShard([])].join())
  .digest("hex")
  .slice(0, 8);

const NAMES = {
  onShards: `on_shards_${RELEASE}`,
  enterShards: `enter_shards_${RELEASE}`,
  /** A shard follows in the name of what does it on that one. */
  onShard: `on_shard_${RELEASE}`,
};

/**
 * Creates the functions of this release in a database with distributed tables, where they are missing. Every machine has those of all
 * shards, so a shard finds its own wherever it moves.
 */
export async function installFunctions(store: Store): Promise<void> {
  const missing = await findMissing(store);
  if (missing.length === 0) return;
  await store.transaction().execute(async (transaction) => {
    await sql`select pg_advisory_xact_lock(${ADVISORY_LOCKS.functions}::integer, 0)`.execute(transaction);
    for (const [name, definition] of await findMissing(transaction)) {
      const text = definition.replace(/\{(\w+)\}/g, (_, key) => NAMES[key as keyof typeof NAMES]);
      await sql.raw(`create or replace function ${name} ${text}`).execute(transaction);
      const placed =
        name === NAMES.onShards
          ? sql`create_distributed_function(oid::regprocedure, '$1', 'payments', force_delegation => true)`
          : sql`create_distributed_function(oid::regprocedure)`;
      await sql`select ${placed} from pg_proc where proname = ${name}`.execute(transaction);
    }
  });
}

/**
 * Also those that are on the coordinator only, as after a restored dump, and one that belongs to tables from before these were
 * brought back to one machine and distributed again.
 */
async function findMissing(store: QueryExecutorProvider): Promise<[string, string][]> {
  const shards = await readShards(store);
  const all: [string, string][] = [
    [NAMES.enterShards, enterShards(await readNames(store))],
    [NAMES.onShards, ON_SHARDS],
    ...shards.map(({ shard, tables }): [string, string] => [`${NAMES.onShard}_${shard}`, onShard(tables)]),
    [NAMES.onShard, onAnyShard(shards.map(({ shard }) => shard))],
  ];
  const { rows } = await sql<{ proname: string }>`
    select proname from pg_proc join pg_dist_object on classid = 'pg_proc'::regclass and objid = pg_proc.oid
    where proname = any(${all.map(([name]) => name)}::text[]) and (proname <> ${NAMES.onShards}
      or colocationid = (select colocationid from pg_dist_partition where logicalrelid = 'payments'::regclass))`.execute(
    store,
  );
  const known = new Set(rows.map(({ proname }) => proname));
  const missing = all.filter(([name]) => !known.has(name));
  const last = all.at(-1); // knows the shards, so it is outdated when one is new
  return last && missing.length > 0 ? [...new Set([...missing, last])] : missing;
}

/** A shard of the payments, with the names of all tables for its merchants. */
export type Shard = { readonly shard: string; readonly tables: ShardTables };

/** @param options.here only those on the machine of the store */
export async function readShards(store: QueryExecutorProvider, { here = false } = {}): Promise<Shard[]> {
  const { rows } = await sql<Shard>`
    select p.shardid::text as shard, json_object_agg(c.relname, shard_name(own.logicalrelid, own.shardid)) as tables
    from pg_dist_shard p
    join pg_dist_shard own on own.shardminvalue = p.shardminvalue or own.shardminvalue is null
    join pg_class c on c.oid = own.logicalrelid
    where p.logicalrelid = 'payments'::regclass and (not ${here}::boolean or p.shardid in (${sql.raw(LOCAL_SHARDS)}))
      and own.logicalrelid = any(${SHARD_TABLES}::text[]::regclass[])
    group by p.shardid order by p.shardid`.execute(store);
  return rows;
}

/** The shards of the payments on the machine that is asked. */
export const LOCAL_SHARDS = `
  select shardid from pg_dist_shard join pg_dist_placement using (shardid) join pg_dist_local_group using (groupid)
  where logicalrelid = 'payments'::regclass order by shardid`;

async function readNames(store: QueryExecutorProvider): Promise<ShardTables> {
  const { rows } = await sql<{ names: ShardTables }>`
    select json_object_agg(relname, format('%s.%I', relnamespace::regnamespace, relname)) as names
    from pg_class where oid = any(${SHARD_TABLES}::text[]::regclass[])`.execute(store);
  return rows[0]?.names ?? THEMSELVES;
}

/**
 * Does a kind of work with items, in one call.
 *
 * @param store of the machine with the rows of all items, or of the coordinator when they belong to one merchant
 * @returns the rows, which are of JSON
 * @throws UnknownShardError when it is not known in which shard the rows of an item are
 */
export async function callOnShards<Row>(
  store: QueryExecutorProvider,
  work: ShardStatement,
  items: readonly OfMerchant[],
  further: Readonly<Record<string, unknown>> = {},
): Promise<Row[]> {
  if (items.length === 0) return [];
  const [ids, parts] = toParts(items, statementsOf(store).shardOf);
  const { rows } = await sql<{ results: Row[][] }>`
    select ${sql.raw(NAMES.onShards)}(${items[0]?.merchant ?? ""}::text, ${work}::text, ${ids}::bigint[], ${JSON.stringify(parts)}::json,
      ${JSON.stringify(further)}::json) as results`.execute(store);
  return (rows[0]?.results ?? []).flat();
}

/** The ids of shards, and the items of each; without ids where the coordinator finds the shard. */
function toParts<Item extends OfMerchant>(
  items: readonly Item[],
  shardOf: Statements["shardOf"],
): [number[] | null, Item[][]] {
  if (!shardOf) return [null, [[...items]]];
  const parts = Map.groupBy(items, ({ merchant }) => {
    const shard = shardOf(merchant);
    if (shard === undefined) throw new UnknownShardError();
    return shard;
  });
  const inOrder = [...parts].sort(([a], [b]) => a - b);
  return [inOrder.map(([shard]) => shard), inOrder.map(([, part]) => part)];
}

/** The shard of a merchant was forgotten since its machine was found; a conflict, so the caller finds it again. */
class UnknownShardError extends Error {
  override readonly name = "UnknownShardError";
  readonly code = "40001";

  constructor() {
    super("The shard of a merchant is not known.");
  }
}
