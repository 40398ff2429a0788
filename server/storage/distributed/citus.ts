import {
  PostgresAdapter,
  type PostgresDialect,
  type QueryExecutorProvider,
  type RawBuilder,
  sql,
} from "kysely";

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

/** What belongs to a merchant. */
type OfMerchant = { readonly merchant: string };

/** What may share a statement: everything, or what belongs to one merchant where the tables are distributed. */
export function toBatches<Item extends OfMerchant>(
  store: QueryExecutorProvider,
  items: readonly Item[],
): (readonly Item[])[] {
  return isDistributed(store) ? [...Map.groupBy(items, ({ merchant }) => merchant).values()] : [items];
}

/**
 * Runs a statement for each batch.
 *
 * @param run resolves with the results in the order of the items
 * @returns the results in the order of all items
 */
export async function inBatches<Item extends OfMerchant, Result>(
  store: QueryExecutorProvider,
  items: readonly Item[],
  run: (items: readonly Item[]) => Promise<readonly Result[]>,
): Promise<readonly Result[]> {
  const batches = toBatches(store, items);
  if (batches.length === 1) return run(items);
  const results = new Map<Item, Result>();
  const runOne = async (batch: readonly Item[]) => {
    for (const [index, result] of (await run(batch)).entries()) results.set(batch[index] as Item, result);
  };
  await Promise.all(batches.map(runOne));
  return items.map((item) => results.get(item) as Result);
}

/**
 * A further condition that leads Citus to the machine with the rows of the one merchant to whom all items belong. On one
 * database it would only cost time.
 *
 * @param column of a table in the statement, such as `p.merchant`; the statement needs the condition once for each of its tables
 */
export function onOneMachine(
  store: QueryExecutorProvider,
  column: string,
  items: readonly OfMerchant[],
): RawBuilder<unknown> {
  return isDistributed(store) ? sql`and ${sql.ref(column)} = ${items[0]?.merchant ?? ""}` : sql``;
}
