import { sql } from "kysely";
import pg from "pg";
import type { Store } from "../database/tables.ts";
import { isLockTimeout } from "../database/unavailable.ts";
import { installFunctions } from "./functions.ts";
import {
  explainLock,
  lockOutServers,
  lockTables,
  NotDistributableError,
  requireCluster,
} from "./preconditions.ts";
import { BY_MERCHANT } from "./shard-statements.ts";

/** Small tables, or tables that are read before the merchant is known. Every machine has all of their rows. */
const EVERYWHERE = ["access_tokens", "clock", "deployment", "holds"];

const TABLES = [...BY_MERCHANT, ...EVERYWHERE];

/** What a database is like after `distribute`. */
export type Distribution = {
  /** Whether its tables had been distributed before. */
  readonly already: boolean;
  /** How many rows were moved. */
  readonly rows: number;
  /** Tables that are spread by merchant. */
  readonly byMerchant: readonly string[];
  /** Tables of which every machine has all rows. */
  readonly everywhere: readonly string[];
  /** How many parts each table has. */
  readonly shards: number;
  /** How many machines hold them. */
  readonly machines: number;
};

/** A table that is being distributed: its rows, and which one of how many it is. */
export type DistributionStep = {
  readonly table: string;
  readonly rows: number;
  readonly number: number;
  readonly of: number;
};

export type DistributeOptions = {
  readonly onStep?: (step: DistributionStep) => void;
  /** Aborted when the operator interrupts. */
  readonly signal?: AbortSignal | undefined;
  /** How long to wait for locks and for servers that are stopping, in milliseconds. */
  readonly waitMs?: number;
};

const WAIT_MS = 3_000;

/**
 * Spreads the tables of an empty or a filled database over the machines of a Citus cluster, by merchant, and the rows of a
 * merchant side by side. One transaction does all of it, so it may be interrupted, and run again. What is distributed already
 * stays as it is. Servers that start meanwhile wait, as they do for a migration.
 *
 * @param store whose statements may take as long as the rows need
 * @throws NotDistributableError when it did nothing; says why and what to do
 */
export async function distribute(store: Store, options: DistributeOptions = {}): Promise<Distribution> {
  await requireCluster(store, TABLES);
  const { signal } = options;
  const moved = await store
    .transaction()
    .execute(async (transaction) => {
      await using _ = await cancelOnAbort(store, transaction, signal);
      const missing = await findUndistributed(transaction);
      const rows = missing.length === 0 ? 0 : await spreadTables(transaction, missing, options);
      await requireColocation(transaction);
      signal?.throwIfAborted();
      return { already: missing.length === 0, rows };
    })
    .catch(async (error: unknown) => {
      throw await explain(error, store, signal);
    });
  // A server that starts does the same, if its role may.
  await installFunctions(store);
  return { ...moved, byMerchant: BY_MERCHANT, everywhere: EVERYWHERE, ...(await readSize(store)) };
}

/** Cancels the statement that the transaction runs when the signal is aborted, until disposed. */
async function cancelOnAbort(
  store: Store,
  transaction: Store,
  signal: AbortSignal | undefined,
): Promise<AsyncDisposable> {
  const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(transaction);
  let cancelled: Promise<unknown> | undefined;
  const cancel = () => {
    // On another connection. If it fails, the transaction ends after its statement.
    cancelled = sql`select pg_cancel_backend(${rows[0]?.pid}::integer)`.execute(store).catch(() => {});
  };
  signal?.addEventListener("abort", cancel);
  return {
    async [Symbol.asyncDispose]() {
      signal?.removeEventListener("abort", cancel);
      await cancelled;
    },
  };
}

async function findUndistributed(transaction: Store): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select name from unnest(${TABLES}::text[]) with ordinality as tables (name, position)
    where name::regclass not in (select logicalrelid from pg_dist_partition) order by position`.execute(
    transaction,
  );
  return rows.map(({ name }) => name);
}

/** @returns the number of their rows */
async function spreadTables(
  transaction: Store,
  tables: readonly string[],
  { onStep = () => {}, signal, waitMs = WAIT_MS }: DistributeOptions,
): Promise<number> {
  await lockOutServers(transaction, waitMs, signal);
  await lockTables(transaction, tables, waitMs);
  await replaceTriggers(transaction, tables);
  // Parallel connections of this transaction would not see each other's tables, nor would one to the coordinator see what is done
  // without a connection.
  await sql`set local citus.multi_shard_modify_mode = 'sequential'`.execute(transaction);
  await sql`set local citus.enable_local_execution = off`.execute(transaction);
  const members = (await findMembers(transaction, tables)).join(", ");
  if (members) await sql.raw(`grant select on ${tables[0]} to ${members}`).execute(transaction);
  let moved = 0;
  for (const [index, table] of tables.entries()) {
    signal?.throwIfAborted();
    const rows = await countRows(transaction, table);
    onStep({ table, rows, number: index + 1, of: tables.length });
    await spread(transaction, table);
    if ((await countRows(transaction, table)) !== rows) {
      throw new NotDistributableError(
        `Not all rows of ${table} arrived. Look for errors in the logs of PostgreSQL.`,
      );
    }
    moved += rows;
  }
  if (members) await sql.raw(`revoke select on ${tables[0]} from ${members}`).execute(transaction);
  // What was copied. Nothing can see it any more, but it takes up space. Each table comes before the one that it refers to.
  for (const table of tables.toReversed()) {
    await sql`select truncate_local_data_after_distributing_table(${table}::regclass)`.execute(transaction);
  }
  return moved;
}

/**
 * Operators have rights as members of a role. Citus creates on all machines only roles with rights of their own, so members get one
 * until the tables are there.
 */
async function findMembers(transaction: Store, tables: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    with entitled as (
      select refobjid as role from pg_shdepend
      where classid = 'pg_class'::regclass and objid = any(${tables}::text[]::regclass[]) and refclassid = 'pg_authid'::regclass
        and dbid = (select oid from pg_database where datname = current_database())
    )
    select quote_ident(rolname) as name from pg_roles
    where not rolsuper and oid not in (select role from entitled)
      and exists (select from entitled where pg_has_role(oid, role, 'member'))`.execute(transaction);
  return rows.map(({ name }) => name);
}

/** Citus refuses tables with triggers. What constraints can't refuse, only the statements of servers and commands keep from then on. */
async function replaceTriggers(transaction: Store, tables: readonly string[]): Promise<void> {
  const { rows } = await sql<{ statement: string }>`
    select format('drop trigger %I on %s', tgname, tgrelid::regclass) as statement from pg_trigger
    where tgrelid = any(${tables}::text[]::regclass[]) and not tgisinternal`.execute(transaction);
  for (const { statement } of rows) await sql.raw(statement).execute(transaction);
  if (rows.length === 0) return;
  await sql`select constrain_payments()`.execute(transaction);
  // A later migration could not add some columns while there are functions of rows.
  await sql`drop function keeps_terms, may_become, extends_history`.execute(transaction);
}

async function spread(transaction: Store, table: string): Promise<void> {
  if (EVERYWHERE.includes(table)) {
    await sql`select create_reference_table(${table}::regclass)`.execute(transaction);
  } else {
    const [beside, shards] =
      table === "payments" ? ["default", await chooseShards(transaction)] : ["payments"];
    await sql`
      select create_distributed_table(${table}::regclass, 'merchant', colocate_with => ${beside}::text,
        shard_count => ${shards ?? null}::integer)`.execute(transaction);
  }
  // The first statements would otherwise be planned for empty tables.
  await sql.raw(`analyze ${table}`).execute(transaction);
}

/** Few, because each shard with items of a batch has a statement of its own; but so many that machines can be added. */
const SHARDS_OF_A_MACHINE = 8;

/** The number that an operator has set, or what suits the machines. */
async function chooseShards(transaction: Store): Promise<number | undefined> {
  const { rows } = await sql<{ shards: number }>`
    select coalesce(
      (select setting::integer from pg_settings where name = 'citus.shard_count' and source <> 'default'),
      ${SHARDS_OF_A_MACHINE}::integer * count(*)::integer) as shards
    from pg_dist_node where shouldhaveshards and isactive and noderole = 'primary'`.execute(transaction);
  return rows[0]?.shards;
}

async function countRows(transaction: Store, table: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(*) from ${sql.table(table)}`.execute(
    transaction,
  );
  return rows[0]?.count ?? 0;
}

/** Somebody may have distributed tables by hand, and in another way. */
async function requireColocation(transaction: Store): Promise<void> {
  const { rows } = await sql<{ groups: number }>`
    select count(distinct (colocationid, partmethod, column_to_column_name(logicalrelid, partkey))) as groups
    from pg_dist_partition where logicalrelid = any(${BY_MERCHANT}::text[]::regclass[])`.execute(transaction);
  if (rows[0]?.groups !== 1) {
    throw new NotDistributableError(
      "Some tables were distributed in another way, not side by side with payments by merchant. Undo it with: select undistribute_table('events')",
    );
  }
}

/** What the operator can do about an error of the transaction, which changed nothing. */
async function explain(error: unknown, store: Store, signal: AbortSignal | undefined): Promise<unknown> {
  if (error instanceof NotDistributableError) return error;
  if (signal?.aborted)
    return new NotDistributableError("Interrupted. The tables are as they were.", { cause: error });
  if (isLockTimeout(error)) return explainLock(store, TABLES);
  // Citus tells in more lines why it could not connect to another machine.
  if (error instanceof pg.DatabaseError) {
    const [reason] = error.message.split("\n");
    return new NotDistributableError(`Failed: ${reason}. The tables are as they were.`, { cause: error });
  }
  return error;
}

async function readSize(store: Store): Promise<Pick<Distribution, "shards" | "machines">> {
  const { rows } = await sql<{ shards: number; machines: number }>`
    select count(distinct shardid) as shards, count(distinct groupid) as machines
    from pg_dist_shard join pg_dist_placement using (shardid)
    where logicalrelid = 'payments'::regclass`.execute(store);
  return { shards: rows[0]?.shards ?? 0, machines: rows[0]?.machines ?? 0 };
}
