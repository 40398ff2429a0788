import { describe, expect, test } from "vitest";
import { endSubscription, insertSubscription } from "../../../../server/storage/webhooks/subscriptions.ts";
import { useDatabase } from "../../../helpers/databases.ts";
import { engines } from "../../../helpers/engine.ts";
import { LATER, NOW, newMerchant } from "../../../helpers/store-factories.ts";

const subscription = {
  url: "https://merchant.example/hooks",
  secretCiphertext: Buffer.from([1, 0, 255]),
  type: "EVENT",
  details: ["refund.pending", "refund.authorized"],
  now: NOW,
} as const;

describe.each(engines)("subscriptions on %s", (engine) => {
  const database = useDatabase(engine);

  async function keyOf(merchant: string): Promise<string> {
    const inserted = await insertSubscription(database.db, { ...subscription, merchant });
    if (inserted === "limit") throw new Error("the merchant has too many");
    return inserted.subscriptionKey;
  }

  /** @decision D26 */
  test("are refused above the limit of live ones, each merchant counted alone", async () => {
    const { db } = database;
    const merchant = newMerchant();
    const [first] = [await keyOf(merchant), await keyOf(merchant)];
    const insert = (owner: string) => insertSubscription(db, { ...subscription, merchant: owner }, 2);

    expect(await insert(merchant)).toBe("limit");
    expect(await insert(newMerchant())).not.toBe("limit");

    await endSubscription(db, { merchant, subscriptionKey: first, now: LATER });
    expect(await insert(merchant)).not.toBe("limit");
    expect(await insert(merchant)).toBe("limit");
  });

  test("can't pass the limit together", async () => {
    const merchant = newMerchant();

    const inserted = await Promise.all(
      Array.from({ length: 110 }, () => insertSubscription(database.db, { ...subscription, merchant })),
    );

    expect(inserted.filter((result) => result === "limit")).toHaveLength(10);
  });
});
