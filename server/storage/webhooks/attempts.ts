import { sql } from "kysely";
import { MAX_TIMEOUTS, type Pace } from "../../domain/fair-shares.ts";
import type { Store } from "../database/tables.ts";
import type { Claim } from "../statements/claims.ts";

/**
 * Counts the consecutive timeouts of a subscription, as `nextTimeouts` does, from the number that is stored: attempts of other
 * servers may have ended meanwhile.
 */
export async function recordPace(
  store: Store,
  { merchant, subscriptionKey, pace }: { merchant: string; subscriptionKey: string; pace: Pace },
): Promise<void> {
  const next = {
    silent: sql`least(coalesce(timeouts, 0) + 1, ${MAX_TIMEOUTS}::integer)`,
    slow: sql`1`,
    quick: sql`0`,
  }[pace];
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
