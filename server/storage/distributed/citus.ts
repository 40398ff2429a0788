import { PostgresAdapter, type PostgresDialect, type QueryExecutorProvider, sql } from "kysely";

/*
 * Citus is an extension of PostgreSQL that spreads tables over machines. It refuses statements that read or change the rows of
 * several merchants in some ways, so a few storage functions have a second form for it, which works on one merchant's rows.
 */

/** Marks the stores whose tables are distributed, and the transactions in them. */
class DistributedAdapter extends PostgresAdapter {}

/** The same dialect for distributed tables. */
export function forDistributedTables(dialect: PostgresDialect): PostgresDialect {
  return Object.assign(dialect, { createAdapter: () => new DistributedAdapter() });
}

/** Whether the tables of a store are spread over machines by merchant. */
export function isDistributed(store: QueryExecutorProvider): boolean {
  return store.getExecutor().adapter instanceof DistributedAdapter;
}

/** The same, asked of the database. */
export async function readWhetherDistributed(store: QueryExecutorProvider): Promise<boolean> {
  const { rows } = await sql<{ citus: boolean }>`
    select to_regclass('pg_dist_partition') is not null as citus`.execute(store);
  if (!rows[0]?.citus) return false;
  const { rows: tables } = await sql`
    select from pg_dist_partition where logicalrelid = to_regclass('payments') and partmethod = 'h'`.execute(
    store,
  );
  return tables.length > 0;
}
