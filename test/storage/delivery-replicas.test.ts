import { describe, expect, test } from "vitest";
import type { Database } from "../../server/storage/database.ts";
import { claimDeliveries } from "../../server/storage/delivery-claims.ts";
import { emitResourceEvent } from "../../server/storage/events.ts";
import { insertSubscription } from "../../server/storage/subscriptions.ts";
import { createTestDatabase } from "../helpers/databases.ts";
import { NOW, newMerchant } from "./given.ts";

const LEASE_MS = 60_000;

describe("deliveries on postgres", () => {
  /** @decision D20a */
  test("are each claimed by one of several replicas at once", async () => {
    const testDatabase = await createTestDatabase("postgres");
    try {
      const replicas = [await testDatabase.open(), await testDatabase.open(), await testDatabase.open()];
      const [{ db }] = replicas as [Database];
      const merchant = newMerchant();
      const saved = await insertSubscription(db, {
        merchant,
        url: "https://merchant.example.com/",
        secretCiphertext: Buffer.from("encrypted"),
        type: "ALL",
        details: [],
        now: NOW,
      });
      const subscriptionKey = saved === "limit" ? "" : saved.subscriptionKey;
      for (let id = 0; id < 60; id += 1) {
        await emitResourceEvent(db, { merchant, type: "account.linked", resourceId: `acc_${id}`, now: NOW });
      }

      const claims = await Promise.all(
        Array.from({ length: 12 }, (_, index) =>
          replicas[index % 3]?.db.transaction().execute((transaction) =>
            claimDeliveries(transaction, {
              quotas: [{ subscriptionKey, limit: 10 }],
              now: NOW,
              leaseMs: LEASE_MS,
            }),
          ),
        ),
      );

      const claimed = claims.flat().map((each) => each?.webhookId);
      expect(new Set(claimed).size).toBe(claimed.length);
      expect(claimed.length).toBeGreaterThan(10);
    } finally {
      await testDatabase.remove();
    }
  });
});
