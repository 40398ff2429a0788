import type { Store } from "../../../server/storage/database/tables.ts";
import { recordAttempts } from "../../../server/storage/webhooks/attempts.ts";
import { claim, createEvent, createSubscription } from "../../helpers/delivery-factories.ts";
import { createPayment, createRefund, LATER, NOW, newMerchant } from "../../helpers/store-factories.ts";
import { query } from "./cluster.ts";

/** Merchants with rows in each of their tables: refunds, some of them due later, and deliveries before and after an attempt. */
export async function createMerchants(store: Store, count: number): Promise<string[]> {
  const merchants = Array.from({ length: count }, newMerchant);
  for (const merchant of merchants) {
    const subscriptionKey = await createSubscription(store, merchant);
    const { paymentId } = await createPayment(store, { merchant });
    await createRefund(store, { merchant, paymentId });
    await createRefund(store, { merchant, paymentId }, { now: LATER });
    await createEvent(store, merchant);
    const attempts = await claim(store, { merchant, subscriptionKey }, { limit: 1, now: LATER });
    const result = { at: NOW, status: 503, error: "503", milliseconds: 5, bodyStart: "busy", endedAt: LATER };
    await recordAttempts(
      store,
      attempts.map((attempt) => ({ ...attempt, ...result, outcome: { kind: "retry", afterMs: 5_000 } })),
    );
  }
  return merchants;
}

const TABLES = [
  "payments",
  "events",
  "subscriptions",
  "deliveries",
  "delivery_attempts",
  "access_tokens",
  "clock",
  "deployment",
] as const;

/** Every row of every table of the domain, in an order that depends on the rows alone. */
export async function readRows(databaseUrl: string): Promise<Record<string, string[]>> {
  const tables = await Promise.all(
    TABLES.map(async (table) => {
      const rows = await query(databaseUrl, `select * from ${table}`);
      return [table, rows.map((row) => JSON.stringify(row)).sort()] as const;
    }),
  );
  return Object.fromEntries(tables);
}
