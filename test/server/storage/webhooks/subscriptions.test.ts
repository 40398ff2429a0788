import { describe, expect, test } from "vitest";
import { noTimeLimit } from "../../../../server/domain/time-limit.ts";
import { subscribeToWebhooks } from "../../../../server/http/subscribe-to-webhooks.ts";
import { findSubscriptionTo, insertSubscription } from "../../../../server/storage/webhooks/subscriptions.ts";
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

  test("are not stored after their call has timed out, because nobody would know their keys", async () => {
    const { db } = database;
    const merchant = newMerchant();
    const caller = { subject: null, clientId: null, tokenId: null, address: null };
    const waiting = new AbortController();
    const handle = subscribeToWebhooks({
      store: { insertSubscription: (...args) => insertSubscription(db, ...args) },
      clock: { realNow: () => NOW, now: async () => NOW, isWrong: () => false },
      inspectSecret: () => {},
      async encrypt() {
        waiting.abort();
        return subscription.secretCiphertext;
      },
    });
    const { url } = subscription;

    const handled = handle({
      ...{ merchant, caller, trace: undefined, path: undefined as never, query: undefined as never },
      body: { url, secretKey: "a".repeat(32), subscriptionDetails: { type: "ALL" } },
      timeLimit: { ...noTimeLimit, signal: waiting.signal },
    });

    await expect(handled).rejects.toThrow(waiting.signal.reason);
    expect(await findSubscriptionTo(db, { merchant, url })).toBeUndefined();
  });

  test("can't exceed the limit by simultaneous calls", async () => {
    const merchant = newMerchant();

    const inserted = await Promise.all(
      Array.from({ length: 110 }, () => insertSubscription(database.db, { ...subscription, merchant })),
    );

    expect(inserted.filter((result) => result === "limit")).toHaveLength(10);
  });
});
