import { type RawBuilder, sql } from "kysely";
import { repeatAfterConflicts } from "../database/conflicts.ts";
import type { Store } from "../database/tables.ts";
import type { OfMerchant } from "../statements/statements.ts";

/** Divides items into those that may share a call, each with the store for it. */
export type Divide = <Item extends OfMerchant>(
  store: Store,
  items: readonly Item[],
) => Promise<(readonly [Store, readonly Item[]])[]>;

/** The coordinator passes on a call for one merchant. */
export const byMerchant: Divide = async (store, items) =>
  groupByMerchant(items).map((some) => [store, some] as const);

/** A machine runs a call for all merchants that it has. */
export const together: Divide = async (store, items) => [[store, items]];

/**
 * Makes one call for each part. A call does nothing where a shard has moved meanwhile. So each of several calls is repeated here, and a
 * single one by the caller of this function.
 */
export async function inParts<Item extends OfMerchant, Result>(
  divide: Divide,
  store: Store,
  items: readonly Item[],
  call: (store: Store, items: readonly Item[]) => Promise<Result>,
): Promise<{ items: readonly Item[]; result: Result }[]> {
  const parts = await divide(store, items);
  if (parts.length === 1 || store.isTransaction) {
    return Promise.all(parts.map(async ([own, some]) => ({ items: some, result: await call(own, some) })));
  }
  const results = parts.map(([, some]) => repeatAfterConflicts(() => inParts(divide, store, some, call)));
  return (await Promise.all(results)).flat();
}

/** The same where a call gives a result for each item; returns them in the order of all items. */
export async function inPartsByItem<Item extends OfMerchant, Result>(
  divide: Divide,
  store: Store,
  items: readonly Item[],
  call: (store: Store, items: readonly Item[]) => Promise<readonly Result[]>,
): Promise<readonly Result[]> {
  const parts = await inParts(divide, store, items, call);
  const results = new Map(
    parts.flatMap((part) => part.items.map((item, index) => [item, part.result[index] as Result] as const)),
  );
  return items.map((item) => results.get(item) as Result);
}

/** Items that may share a statement: those of one merchant, whose rows are on one machine. */
export function groupByMerchant<Item extends OfMerchant>(items: readonly Item[]): Item[][] {
  return [...Map.groupBy(items, ({ merchant }) => merchant).values()];
}

/**
 * Runs a statement for each merchant.
 *
 * @param run resolves with the results in the order of the items
 * @returns the results in the order of all items
 */
export async function inBatches<Item extends OfMerchant, Result>(
  items: readonly Item[],
  run: (items: readonly Item[]) => Promise<readonly Result[]>,
): Promise<readonly Result[]> {
  const batches = groupByMerchant(items);
  if (batches.length === 1) return run(items);
  const results = new Map<Item, Result>();
  const runOne = async (batch: readonly Item[]) => {
    for (const [index, result] of (await run(batch)).entries()) results.set(batch[index] as Item, result);
  };
  await Promise.all(batches.map(runOne));
  return items.map((item) => results.get(item) as Result);
}

/**
 * A further condition that leads Citus to the machine with the rows of the one merchant to whom all items belong.
 *
 * @param column of a table in the statement, such as `p.merchant`; the statement needs the condition once for each of its tables
 */
export function onOneMachine(column: string, items: readonly OfMerchant[]): RawBuilder<unknown> {
  return sql`and ${sql.ref(column)} = ${items[0]?.merchant ?? ""}`;
}
