import { describe, expect, test } from "vitest";
import { insertSubscription } from "../../../../server/storage/webhooks/subscriptions.ts";
import { useDatabase } from "../../../helpers/databases.ts";
import { engines } from "../../../helpers/engine.ts";
import { NOW, newMerchant } from "../../../helpers/store-factories.ts";

const subscription = {
  url: "https://merchant.example/hooks",
  secretCiphertext: Buffer.from([1, 0, 255]),
  type: "EVENT",
  details: ["refund.pending", "refund.authorized"],
  now: NOW,
} as const;

describe.each(engines)("subscriptions on %s", (engine) => {
  const database = useDatabase(engine);

  test("can't exceed the limit by simultaneous calls", async () => {
    const merchant = newMerchant();

    const inserted = await Promise.all(
      Array.from({ length: 110 }, () => insertSubscription(database.db, { ...subscription, merchant })),
    );

    expect(inserted.filter((result) => result === "limit")).toHaveLength(10);
  });
});
