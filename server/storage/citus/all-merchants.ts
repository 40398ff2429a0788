import { type RawBuilder, sql } from "kysely";
import type { Store } from "../database/tables.ts";
import { type QueryParts, WHOLE_TABLES } from "../statements/all-merchants.ts";

/** For the function that puts the names of shards into a text. */
export const IN_SHARDS: QueryParts = {
  payments: sql`%1$s`,
  subscriptions: sql`%2$s`,
  deliveries: sql`%3$s`,
  events: sql`%4$s`,
  payoutsWaiting: sql`%5$s`,
  value: toLiteral,
  list: (texts) => sql`array[${sql.join(texts.map(toLiteral))}]::text[]`,
};

function toLiteral(value: string | number | boolean | Date): RawBuilder<unknown> {
  const literal = value instanceof Date ? value.toISOString() : value;
  return sql.lit(typeof literal === "string" ? literal.replaceAll("%", "%%") : literal);
}

/** By the coordinator, while there are no connections to the machines. Each query must join rows of one merchant only. */
export async function findWhole<Row>(
  store: Store,
  write: (parts: QueryParts) => RawBuilder<Row>,
): Promise<Row[]> {
  return (await write(WHOLE_TABLES).execute(store)).rows;
}
