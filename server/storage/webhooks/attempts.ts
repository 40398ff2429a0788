import { sql } from "kysely";
import { MAX_TIMEOUTS } from "../../domain/fair-shares.ts";
import type { Store } from "../database/tables.ts";
import type { Claim } from "../statements/claims.ts";

/**
 * Counts the consecutive timeouts of a subscription, up to the number from which on more make no difference; a response
 * resets the count.
 */
export async function recordTimeout(
  store: Store,
  { merchant, subscriptionKey, timedOut }: { merchant: string; subscriptionKey: string; timedOut: boolean },
): Promise<void> {
  const next = timedOut ? sql`least(coalesce(timeouts, 0) + 1, ${MAX_TIMEOUTS}::integer)` : sql`0`;
  await sql`
    update subscriptions set timeouts = ${next}
    where subscription_key = ${subscriptionKey} and merchant = ${merchant} and timeouts is distinct from ${next}`.execute(
    store,
  );
}

/** Gives a claimed delivery back without a result, so that another server can claim it at once. */
export async function releaseClaim(store: Store, { webhookId, merchant, fence }: Claim): Promise<void> {
  await store
    .updateTable("deliveries")
    .set({ leased_until: null, sending: false })
    .where("webhook_id", "=", webhookId)
    .where("merchant", "=", merchant)
    .where("fence", "=", fence)
    .execute();
}
