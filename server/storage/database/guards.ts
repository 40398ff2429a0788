import { type QueryExecutorProvider, sql } from "kysely";
import { StoreStartError } from "./start-error.ts";

/** The triggers of the table `payments`, which `guard_payments()` creates where Citus does not spread it. */
const PAYMENT_TRIGGERS = [
  "payments_add_refunds",
  "payments_due",
  "payments_failed",
  "payments_history",
  "payments_keep_originals",
  "payments_sum",
  "payments_terms",
  "payments_transition",
] as const;

/** The triggers of payments that are missing, or that somebody has switched off. */
export async function findMissingTriggers(store: QueryExecutorProvider): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select name from unnest(${PAYMENT_TRIGGERS}::text[]) as name
    where not exists (
      select from pg_trigger where tgrelid = 'payments'::regclass and tgname = name and tgenabled in ('O', 'A'))
    order by name`.execute(store);
  return rows.map(({ name }) => name);
}

/** Throws {@link StoreStartError} where the database would not add up refunds, or not refuse what it should. */
export function requireGuards(missing: readonly string[]): void {
  if (missing.length === 0) return;
  throw new StoreStartError(
    `The table payments lacks triggers, or they are disabled: ${missing.join(", ")}. Without them the database would not add up refunds. Run this as the owner of the tables: select guard_payments()`,
  );
}
