import { describe, expect, test } from "vitest";
import type { Database } from "../../../../server/storage/database.ts";
import { createTestDatabase } from "../../../helpers/databases.ts";
import { claim, createEvent, createSubscription } from "../../../helpers/delivery-factories.ts";
import { newMerchant } from "../../../helpers/store-factories.ts";

describe("deliveries on postgres", () => {
  /** @decision D20a */
  test("are each claimed by one of several replicas at once", async () => {
    const testDatabase = await createTestDatabase("postgres");
    try {
      const replicas = [await testDatabase.open(), await testDatabase.open(), await testDatabase.open()];
      const [{ db }] = replicas as [Database];
      const merchant = newMerchant();
      const subscriptionKey = await createSubscription(db, merchant);
      for (let id = 0; id < 60; id += 1) await createEvent(db, merchant, `acc_${id}`);

      const claims = await Promise.all(
        Array.from({ length: 12 }, (_, index) =>
          claim(replicas[index % 3]?.db ?? db, { merchant, subscriptionKey }),
        ),
      );

      const claimed = claims.flat().map((each) => each.webhookId);
      expect(new Set(claimed).size).toBe(claimed.length);
      expect(claimed.length).toBeGreaterThan(10);
    } finally {
      await testDatabase.remove();
    }
  });
});
