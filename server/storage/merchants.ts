import { sql } from "kysely";
import type { Store } from "./tables.ts";

/**
 * Deletes a merchant's payments, refunds, events and subscriptions, for the reset of a sandbox. Access tokens stay, so
 * that nobody resets itself out; the clock stays too.
 */
export async function deleteMerchantData(store: Store, merchant: string): Promise<void> {
  await store.transaction().execute(async (transaction) => {
    // Refunds being issued meanwhile would point at payments that go: writers wait, and nobody waits in a circle.
    await sql`lock table payments in exclusive mode`.execute(transaction);
    await transaction.deleteFrom("events").where("merchant", "=", merchant).execute();
    await transaction.deleteFrom("subscriptions").where("merchant", "=", merchant).execute();
    await transaction.deleteFrom("payments").where("merchant", "=", merchant).execute();
  });
}
