import type { Store } from "../database/tables.ts";
import { type EndedAttempt, toResults } from "../statements/attempts.ts";
import { callOnShards } from "./functions.ts";

export async function recordAttempts(
  store: Store,
  attempts: readonly EndedAttempt[],
): Promise<readonly (string | undefined)[]> {
  const { rows: results, states } = toResults(attempts);
  const rows = await callOnShards<{ webhook_id: string }>(store, "recordAttempts", results, {
    states: states.map(({ state }) => state),
    onlyOnce: states.map(({ onlyOnce }) => onlyOnce),
    dueAfterMs: states.map(({ dueAfterMs }) => dueAfterMs),
  });
  const recorded = new Set(rows.map((row) => row.webhook_id));
  return attempts.map(({ webhookId }) => (recorded.has(webhookId) ? webhookId : undefined));
}
