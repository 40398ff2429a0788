import { type RawBuilder, sql } from "kysely";
import type { Store } from "../database/tables.ts";
import { isUnavailable } from "../database/unavailable.ts";
import { type QueryParts, WHOLE_TABLES } from "../statements/all-merchants.ts";
import { onLocalShards } from "./functions.ts";

/** For the function that puts the names of shards into a text. */
const IN_SHARDS: QueryParts = {
  payments: sql`%1$s`,
  subscriptions: sql`%2$s`,
  deliveries: sql`%3$s`,
  value: toLiteral,
  list: (texts) => sql`array[${sql.join(texts.map(toLiteral))}]::text[]`,
};

function toLiteral(value: string | number | boolean | Date): RawBuilder<unknown> {
  const literal = value instanceof Date ? value.toISOString() : value;
  return sql.lit(typeof literal === "string" ? literal.replaceAll("%", "%%") : literal);
}

/** What Citus says of a machine that it can't reach, or that has ended the connection. */
const UNREACHABLE = /connect/i;

/**
 * Each query must be of a form that Citus passes on to every machine, because it joins rows of one merchant only. While a machine
 * can't be reached, it finds the rows on the others, so that their merchants do not have to wait; this is slower, because it opens
 * a connection to each machine.
 */
export async function findOverall<Row>(
  store: Store,
  write: (parts: QueryParts) => RawBuilder<Row>,
): Promise<Row[]> {
  try {
    return (await write(WHOLE_TABLES).execute(store)).rows;
  } catch (error) {
    if (store.isTransaction || !isUnavailable(error)) throw error;
    const { sql: query } = write(IN_SHARDS).compile(store);
    const { rows } = await sql<{ success: boolean; result: string }>`
      select success, result
      from run_command_on_all_nodes(format('select %I(%L)', ${onLocalShards()}::text, ${query}::text))`.execute(
      store,
    );
    const refused = rows.find(({ success, result }) => !success && !UNREACHABLE.test(result));
    if (refused) throw new Error(refused.result, { cause: error });
    return rows.filter(({ success }) => success).flatMap(({ result }): Row[] => JSON.parse(result));
  }
}
