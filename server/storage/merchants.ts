import { sql } from "kysely";
import { type Fixture, insertFixtures } from "./fixtures.ts";
import type { Store } from "./tables.ts";

/**
 * Replaces a merchant's payments, refunds, events, deliveries and subscriptions by what it begins with, for the reset of a
 * sandbox, all in one transaction. Access tokens stay, so that nobody resets itself out; the clock stays too.
 *
 * @param now the domain's time (D30)
 */
export async function resetMerchant(
  store: Store,
  { merchant, fixtures, now }: { merchant: string; fixtures: readonly Fixture[]; now: Date },
): Promise<void> {
  await store.transaction().execute(async (transaction) => {
    // Refunds being issued meanwhile would point at payments that go, and deliveries at events and subscriptions: writers
    // wait. Nobody waits in a circle, because whoever writes several of these tables begins with the first of them.
    await sql`lock table payments, events, deliveries in exclusive mode`.execute(transaction);
    await transaction.deleteFrom("deliveries").where("merchant", "=", merchant).execute();
    await transaction.deleteFrom("events").where("merchant", "=", merchant).execute();
    await transaction.deleteFrom("subscriptions").where("merchant", "=", merchant).execute();
    await sql`delete from payments where merchant = ${merchant} and sequence >= 0`.execute(transaction); // by the index of the newest
    if (fixtures.length > 0) await insertFixtures(transaction, fixtures, now);
  });
}
