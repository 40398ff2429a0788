import { describe, expect, test } from "vitest";
import type { InHand } from "../../server/storage/delivery-claims.ts";
import { shareOut } from "../../server/webhooks/shares.ts";

const LIMITS = { perSubscription: 4, perMerchant: 6, waiting: 10 };

const due = (subscriptionKey: string, merchant: string) => ({ subscriptionKey, merchant });
const inHand = (subscriptionKey: string, merchant: string, count: number, waiting = 0): InHand => ({
  subscriptionKey,
  merchant,
  count,
  waiting,
});
const share = (subscriptions: ReturnType<typeof due>[], taken: InHand[] = []) =>
  Object.fromEntries(
    shareOut(subscriptions, taken, LIMITS).map(({ subscriptionKey, limit }) => [subscriptionKey, limit]),
  );

describe("the places of a claim", () => {
  test("are as many as one subscription may have", () => {
    expect(share([due("a", "acme")])).toEqual({ a: 4 });
  });

  test("are fewer by what a subscription has in hand, and none when that is all", () => {
    expect(share([due("a", "acme"), due("b", "globex")], [inHand("a", "acme", 3)])).toEqual({ a: 1, b: 4 });
    expect(share([due("a", "acme"), due("b", "globex")], [inHand("a", "acme", 4)])).toEqual({ b: 4 });
  });

  test("are no more for a merchant with many subscriptions than for any other", () => {
    const many = ["a", "b", "c", "d", "e", "f", "g", "h"].map((key) => due(key, "acme"));

    expect(share([...many, due("z", "globex")])).toEqual({ a: 1, b: 1, c: 1, d: 1, e: 1, f: 1, z: 4 });
  });

  test("count what a merchant has in hand for subscriptions that have nothing due", () => {
    expect(share([due("a", "acme")], [inHand("b", "acme", 5)])).toEqual({ a: 1 });
  });

  test("go to everybody once before anybody has two, and no further than places are free", () => {
    const subscriptions = ["a", "b", "c", "d"].map((key) => due(key, `merchant of ${key}`));

    expect(share(subscriptions)).toEqual({ a: 3, b: 3, c: 2, d: 2 });
    expect(share(subscriptions, [inHand("y", "other", 9, 8)])).toEqual({ a: 1, b: 1 });
    expect(share(subscriptions, [inHand("y", "other", 10, 10)])).toEqual({});
  });
});
