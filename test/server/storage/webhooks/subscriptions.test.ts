import { describe, expect, test } from "vitest";
import { noTimeLimit } from "../../../../server/domain/time-limit.ts";
import { subscribeToWebhooks } from "../../../../server/http/subscribe-to-webhooks.ts";
import {
  endSubscription,
  findSubscriptionTo,
  insertSubscription,
  type NewSubscription,
} from "../../../../server/storage/webhooks/subscriptions.ts";
import { useDatabase } from "../../../helpers/databases.ts";
import { engines } from "../../../helpers/engine.ts";
import { NOW, newMerchant } from "../../../helpers/store-factories.ts";

const subscription = {
  url: "https://merchant.example/hooks",
  secretCiphertext: Buffer.from([1, 0, 255]),
  isSecret: async () => false,
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
      inspect: () => {},
      keys: {
        async encrypt() {
          waiting.abort();
          return subscription.secretCiphertext;
        },
        decrypt: async () => "",
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

  test("are not made again while an equal one is live, even by simultaneous calls or at the limit", async () => {
    const merchant = newMerchant();
    const insert = (fields: Partial<NewSubscription> = {}) =>
      insertSubscription(
        database.db,
        { ...subscription, merchant, isSecret: async (stored) => stored[0] === 1, ...fields },
        5,
      );
    const keyOf = async (inserted: ReturnType<typeof insert>) => Object(await inserted).subscriptionKey;

    const equal = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        keyOf(insert({ details: index % 2 ? subscription.details : subscription.details.toReversed() })),
      ),
    );
    const [subscriptionKey] = equal;
    const others = await Promise.all([
      keyOf(insert({ url: "https://merchant.example/Hooks" })),
      keyOf(insert({ isSecret: async () => false, secretCiphertext: Buffer.of(2) })),
      keyOf(insert({ details: ["refund.pending"] })),
      keyOf(insert({ type: "CATEGORY" })),
    ]);

    expect(new Set(equal).size).toBe(1);
    expect(new Set([...equal, ...others]).size).toBe(5);
    expect(await insert()).toEqual({ subscriptionKey, isNew: false });
    expect(await insert({ details: [] })).toBe("limit");
    await endSubscription(database.db, { merchant, subscriptionKey, now: NOW });
    expect(await insert()).toMatchObject({ isNew: true });
  });
});
