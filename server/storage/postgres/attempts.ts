import { sql } from "kysely";
import type { Store } from "../database/tables.ts";
import { type EndedAttempt, recordStatement, toResults } from "../statements/attempts.ts";

/** By one statement. */
export async function recordAttempts(store: Store, attempts: readonly EndedAttempt[]): Promise<Set<string>> {
  const { rows: results, states } = toResults(attempts);
  const { rows } = await recordStatement({
    rows: sql`${JSON.stringify(results)}::json`,
    states: sql`${states.map(({ state }) => state)}::text[]`,
    onlyOnce: sql`${states.map(({ onlyOnce }) => onlyOnce)}::boolean[]`,
    dueAfterMs: sql`${states.map(({ dueAfterMs }) => dueAfterMs)}::bigint[]`,
  }).execute(store);
  return new Set(rows.map((row) => row.webhook_id));
}
