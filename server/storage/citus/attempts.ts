import { sql } from "kysely";
import type { Store } from "../database/tables.ts";
import { type EndedAttempt, toResultRow } from "../statements/attempts.ts";
import { inBatches } from "./batches.ts";
import { callFunction } from "./functions.ts";

export async function recordAttempts(store: Store, attempts: readonly EndedAttempt[]): Promise<Set<string>> {
  const recorded = await inBatches(attempts, (some) => recordOnOneMachine(store, some));
  return new Set(recorded.filter((webhookId) => webhookId !== undefined));
}

async function recordOnOneMachine(
  store: Store,
  attempts: readonly EndedAttempt[],
): Promise<(string | undefined)[]> {
  const recorded = await callFunction<string[]>(
    store,
    "recordAttempts",
    attempts[0]?.merchant ?? "",
    sql`${JSON.stringify(attempts.map(toResultRow))}::json`,
  );
  return attempts.map(({ webhookId }) => (recorded.includes(webhookId) ? webhookId : undefined));
}
