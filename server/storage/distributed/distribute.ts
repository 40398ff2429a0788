import { sql } from "kysely";
import type { Store } from "../database/tables.ts";
import { installFunctions } from "./functions.ts";

/** Tables whose rows belong to one merchant. Each comes after the one that it refers to. */
const BY_MERCHANT = ["payments", "events", "subscriptions", "deliveries", "delivery_attempts"] as const;

/** Small tables, or tables that are read before the merchant is known. Every machine has all of their rows. */
const EVERYWHERE = ["access_tokens", "clock", "deployment"] as const;

/** The database can't be distributed. The message says why. */
export class NotDistributableError extends Error {
  override readonly name = "NotDistributableError";
}

/** What a database is like after `distribute`. */
export type Distribution = {
  /** Whether its tables had been distributed before. */
  readonly already: boolean;
  /** Tables that are spread by merchant. */
  readonly byMerchant: readonly string[];
  /** Tables of which every machine has all rows. */
  readonly everywhere: readonly string[];
  /** How many parts each table has. */
  readonly shards: number;
  /** How many machines hold them. */
  readonly machines: number;
};

/**
 * Spreads the tables of an empty or a filled database over the machines of a Citus cluster, by merchant, and the rows of a
 * merchant side by side. One transaction does all of it, under locks for which every writer waits, so it can be interrupted and
 * run again. No server may be running: it would go on with statements for tables on one machine.
 *
 * @throws NotDistributableError on plain PostgreSQL, and on a cluster without workers
 */
export async function distribute(store: Store): Promise<Distribution> {
  const already = await store.transaction().execute(async (transaction) => {
    await requireCitus(transaction);
    const locked = await sql<{ distributed: boolean }>`
      select exists (select from pg_dist_partition where logicalrelid = 'payments'::regclass and partmethod = 'h')
        as distributed
      from pg_advisory_xact_lock(${LOCK_CLASS}::integer, 0)`.execute(transaction);
    if (locked.rows[0]?.distributed) return true;
    // Parallel connections of this transaction would not see each other's tables.
    await sql`set local citus.multi_shard_modify_mode = 'sequential'`.execute(transaction);
    await sql`set local statement_timeout = 0`.execute(transaction);
    // Written by servers of an older release, which can't run on distributed tables.
    await sql`drop trigger if exists delivery_attempts_fill_in_merchant on delivery_attempts`.execute(
      transaction,
    );
    for (const table of BY_MERCHANT) {
      const beside = table === "payments" ? "default" : "payments";
      await sql`select create_distributed_table(${table}::regclass, 'merchant', colocate_with => ${beside}::text)`.execute(
        transaction,
      );
    }
    for (const table of EVERYWHERE) {
      await sql`select create_reference_table(${table}::regclass)`.execute(transaction);
    }
    return false;
  });
  if (!already) await removeLocalRows(store);
  await installFunctions(store);
  return { already, byMerchant: BY_MERCHANT, everywhere: EVERYWHERE, ...(await readSize(store)) };
}

/** Key of the advisory lock that lets one command at a time distribute. */
const LOCK_CLASS = 19;

async function requireCitus(store: Store): Promise<void> {
  const { rows } = await sql<{ citus: boolean }>`
    select exists (select from pg_extension where extname = 'citus') as citus`.execute(store);
  if (!rows[0]?.citus) {
    throw new NotDistributableError(
      "This database is plain PostgreSQL, which can't spread tables over machines. Create the extension citus in it first: see the guide “Beyond one machine”.",
    );
  }
  const workers = await sql`
    select from pg_dist_node where shouldhaveshards and isactive and noderole = 'primary'`.execute(store);
  if (workers.rows.length === 0) {
    throw new NotDistributableError(
      "This Citus cluster has no machine for the tables. Add one with: select citus_add_node('host', 5432)",
    );
  }
}

/** The rows from before the tables were distributed, which nothing can see any more but which still take up space. */
async function removeLocalRows(store: Store): Promise<void> {
  for (const table of ["delivery_attempts", "deliveries", "subscriptions", "events", "payments"]) {
    await sql`select truncate_local_data_after_distributing_table(${table}::regclass)`.execute(store);
  }
}

async function readSize(store: Store): Promise<Pick<Distribution, "shards" | "machines">> {
  const { rows } = await sql<{ shards: number; machines: number }>`
    select count(distinct shardid)::integer as shards, count(distinct groupid)::integer as machines
    from pg_dist_shard join pg_dist_placement using (shardid)
    where logicalrelid = 'payments'::regclass`.execute(store);
  return { shards: rows[0]?.shards ?? 0, machines: rows[0]?.machines ?? 0 };
}
