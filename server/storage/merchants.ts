import { sql } from "kysely";
import type { Store } from "./tables.ts";

/**
 * Deletes a merchant's payments, refunds, events, deliveries and subscriptions, for the reset of a sandbox. Access tokens stay, so
 * that nobody resets itself out; the clock stays too.
 */
export async function deleteMerchantData(store: Store, merchant: string): Promise<void> {
  await store.transaction().execute(async (transaction) => {
    // Refunds being issued meanwhile would point at payments that go, and deliveries at events and subscriptions: writers
    // wait. Nobody waits in a circle, because whoever writes several of these tables begins with the first of them.
    await sql`lock table payments, events, deliveries in exclusive mode`.execute(transaction);
    await transaction.deleteFrom("deliveries").where("merchant", "=", merchant).execute();
    await transaction.deleteFrom("events").where("merchant", "=", merchant).execute();
    await transaction.deleteFrom("subscriptions").where("merchant", "=", merchant).execute();
    await transaction.deleteFrom("payments").where("merchant", "=", merchant).execute();
  });
}
