import type { Connection } from "./connection.ts";

/** As PostgreSQL's autovacuum chooses, with larger numbers to begin with: while one is cleared, this process does nothing else. */
const WORN_TABLES = `
  select format('%I.%I', schemaname, relname) as name from pg_stat_user_tables
  where n_dead_tup > 1000 + 0.2 * n_live_tup or n_mod_since_analyze > 1000 + 0.1 * n_live_tup`;

/**
 * Clears what updates and deletes have left in the tables that have much of it, and counts their rows for the planner. On
 * PostgreSQL an autovacuum does so by itself; the embedded store has none, and would read all that was ever due in order to
 * find what is.
 */
export async function vacuum(connection: Connection): Promise<void> {
  const { rows } = await connection.executeSql(WORN_TABLES);
  const faults: unknown[] = [];
  for (const { name } of rows as { name: string }[]) {
    // One that can't be cleared keeps no other waiting.
    await connection.executeSql(`vacuum (analyze) ${name}`).catch((error) => faults.push(error));
  }
  if (faults.length > 0) throw new AggregateError(faults, "some tables can't be vacuumed");
}
