import { type RawBuilder, sql } from "kysely";
import type { OfMerchant } from "../statements/statements.ts";

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
