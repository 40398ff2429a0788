import type { CallerIdentity } from "../../server/domain/caller-identity.ts";
import type { Db } from "../../server/storage/database/tables.ts";
import { type Attempt, claimDeliveries } from "../../server/storage/webhooks/claims.ts";
import { emitResourceEvent } from "../../server/storage/webhooks/events.ts";
import { insertSubscription } from "../../server/storage/webhooks/subscriptions.ts";
import { NOW } from "./store-factories.ts";

export const LEASE_MS = 60_000;

/** A new subscription of a merchant to all events. Returns its key. */
export async function createSubscription(
  store: Db,
  merchant: string,
  caller: CallerIdentity | undefined = undefined,
): Promise<string> {
  const saved = await insertSubscription(store, {
    merchant,
    url: "https://merchant.example.com/",
    secretCiphertext: Buffer.from("encrypted"),
    type: "ALL",
    details: [],
    now: NOW,
    ...(caller && { caller }),
  });
  if (saved === "limit") throw new Error("too many subscriptions");
  return saved.subscriptionKey;
}

/** An event of a merchant, with a delivery that is due at NOW for each of the merchant's subscriptions. */
export async function createEvent(store: Db, merchant: string, resourceId = "acc_1"): Promise<void> {
  await emitResourceEvent(store, { merchant, type: "account.linked", resourceId, now: NOW });
}

/** Claims due deliveries of a subscription; by default up to ten, at NOW. */
export function claim(
  store: Db,
  { merchant, subscriptionKey }: { merchant: string; subscriptionKey: string },
  { limit = 10, now = NOW, leaseMs = LEASE_MS } = {},
): Promise<Attempt[]> {
  return claimDeliveries(store, { claimLimits: [{ subscriptionKey, merchant, limit }], now, leaseMs });
}
