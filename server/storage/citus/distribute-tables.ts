import { sql } from "kysely";
import { ADVISORY_LOCKS } from "../database/advisory-locks.ts";
import type { Db } from "../database/db-types.ts";
import { BY_MERCHANT, installFunctions } from "./shard-functions.ts";

/**
 * Spreads the tables of an empty or a filled database over the machines of a Citus cluster, by merchant, and the rows of a
 * merchant side by side. One transaction does all of it, so it may be interrupted, and run again. What is distributed already
 * stays as it is. Servers that start meanwhile wait, as they do for a migration.
 * @param db whose statements may take as long as the rows need
 * @returns false where all tables were distributed before
 * @throws NotDistributableError when it did nothing; says why and what to do
 */
export async function distribute(db: Db): Promise<boolean> {
  await requireCluster(db);
  const isNew = await db.transaction().execute(async (transaction) => {
    const { rows } = await sql<{ name: string }>`
      select name from unnest(${TABLES}::text[]) with ordinality as tables (name, position)
      where name::regclass not in (select logicalrelid from pg_dist_partition)
      order by position`.execute(transaction);
    const tables = rows.map(({ name }) => name);
    if (tables.length > 0) await spreadTables(transaction, tables);
    return tables.length > 0;
  });
  // A server that starts does the same, if its role may.
  await installFunctions(db);
  return isNew;
}

/** Small tables, or tables that are read before the merchant is known. Every machine has all of their rows. */
const EVERYWHERE = ["access_tokens", "clock", "deployment", "holds"];
const TABLES = [...BY_MERCHANT, ...EVERYWHERE];

/** The tables can't be distributed, and the database is as it was. The message says why and what to do. */
export class NotDistributableError extends Error {
  override readonly name = "NotDistributableError";
}

/** Few, because a batch needs a statement for each shard with items of it; but enough that machines can be added. */
const SHARDS_OF_A_MACHINE = 8;

async function requireCluster(db: Db): Promise<void> {
  const { rows: extensions } = await sql`select from pg_extension where extname = 'citus'`.execute(db);
  if (extensions.length === 0) {
    throw new NotDistributableError(
      "This database is plain PostgreSQL, which can't spread tables over machines. Create the extension citus in it first.",
    );
  }
  const { rows } = await sql<{ workers: boolean; owner: boolean }>`
    select exists (select from pg_dist_node where shouldhaveshards and isactive and noderole = 'primary') as workers,
      (select bool_and(pg_has_role(relowner, 'usage')) from pg_class
        where oid = any(${TABLES}::text[]::regclass[])) as owner`.execute(db);
  const obstacle = !rows[0]?.workers
    ? "This Citus cluster has no machine for the tables. Add one with: select citus_add_node('host', 5432)"
    : "Only the owner of the tables can distribute them. Use the DATABASE_URL with which you migrate.";
  if (!rows[0]?.workers || !rows[0].owner) throw new NotDistributableError(obstacle);
}

async function spreadTables(transaction: Db, tables: readonly string[]): Promise<void> {
  await lockOutServers(transaction);
  await sql`set local lock_timeout = '3s'`.execute(transaction);
  await sql.raw(`lock table ${tables.join(", ")} in access exclusive mode`).execute(transaction);
  if (tables.includes("payments")) await replaceTriggers(transaction);
  // Parallel connections of this transaction would not see each other's tables, nor would one to the coordinator see what is done
  // without a connection.
  await sql`set local citus.multi_shard_modify_mode = 'sequential'`.execute(transaction);
  await sql`set local citus.enable_local_execution = off`.execute(transaction);
  for (const table of tables) await spread(transaction, table);
  // What was copied. Nothing can see it any more, but it takes up space. Each table comes before the one that it refers to.
  for (const table of tables.toReversed())
    await sql`select truncate_local_data_after_distributing_table(${table}::regclass)`.execute(transaction);
}

/**
 * Requires that no server is connected, and lets no other one start before the transaction ends: a server decides at its start how
 * to use the tables. A server's session is one whose role may write payments; Citus has sessions of its own.
 */
async function lockOutServers(transaction: Db): Promise<void> {
  const { rows } = await sql<{ locked: boolean; sessions: string | null }>`
    select pg_try_advisory_xact_lock(${ADVISORY_LOCKS.migration}::integer, 0) as locked, (
      select string_agg('process ' || pid || ' of ' || usename, ', ') from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()
        and coalesce(backend_type, 'client backend') = 'client backend'
        and application_name !~ '^(citus_|Citus )' and has_any_column_privilege(usename, 'payments', 'insert')
    ) as sessions`.execute(transaction);
  const { locked = false, sessions = null } = rows[0] ?? {};
  if (!locked)
    throw new NotDistributableError(
      "Another process migrates or distributes this database. Wait until it has ended.",
    );
  if (sessions !== null)
    throw new NotDistributableError(
      `Stop all servers first: they use the tables in another way until they start again. Still connected: ${sessions}.`,
    );
}

/** Citus refuses tables with triggers. What constraints can't refuse, only the statements of servers and commands keep from then on. */
async function replaceTriggers(transaction: Db): Promise<void> {
  const { rows } = await sql<{ statement: string }>`
    select format('drop trigger %I on %s', tgname, tgrelid::regclass) as statement from pg_trigger
    where tgrelid = any(${TABLES}::text[]::regclass[]) and not tgisinternal`.execute(transaction);
  for (const { statement } of rows) await sql.raw(statement).execute(transaction);
  await sql`select constrain_payments()`.execute(transaction);
  // A later migration could not add some columns while there are functions of rows.
  await sql`drop function may_become`.execute(transaction);
}

async function spread(transaction: Db, table: string): Promise<void> {
  if (EVERYWHERE.includes(table)) {
    await sql`select create_reference_table(${table}::regclass)`.execute(transaction);
  } else {
    const beside = table === "payments" ? "default" : "payments";
    await sql`
      select create_distributed_table(${table}::regclass, 'merchant', colocate_with => ${beside}::text,
        shard_count => case when ${beside}::text = 'default' then (
          select ${SHARDS_OF_A_MACHINE}::integer * count(*)::integer from pg_dist_node
          where shouldhaveshards and isactive and noderole = 'primary') end)`.execute(transaction);
  }
  // The first statements would otherwise be planned for empty tables.
  await sql.raw(`analyze ${table}`).execute(transaction);
}
