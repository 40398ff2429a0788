import { describe, expect, test } from "vitest";
import {
  changesTimeouts,
  type InHand,
  MAX_TIMEOUTS,
  type ShareHolder,
  shareFairly,
} from "../../../../server/domain/fair-shares.ts";

const LIMITS = { total: 256, unproven: 128, perMerchant: 64, perSubscription: 16 };

const proven = (subscriptionKey: string, merchant: string): ShareHolder => ({
  subscriptionKey,
  merchant,
  timeouts: 0,
});
const unproven = (subscriptionKey: string, merchant: string, timeouts: number | null = null) => ({
  subscriptionKey,
  merchant,
  timeouts,
});
const inHand = (holder: ShareHolder, count: number): InHand => ({ ...holder, count });
const share = (due: ShareHolder[], taken: InHand[] = []) =>
  Object.fromEntries(
    shareFairly(due, taken, LIMITS).map(({ subscriptionKey, limit }) => [subscriptionKey, limit]),
  );
/** A number of merchants, each with a number of subscriptions. */
const create = (merchants: number, subscriptions: number, timeouts: number | null) =>
  Array.from({ length: merchants }, (_, merchant) =>
    Array.from({ length: subscriptions }, (_, index) =>
      unproven(`${merchant} ${index}`, `merchant ${merchant}`, timeouts),
    ),
  ).flat();
/** The deliveries in progress after subscriptions got their shares. */
const taken = (holders: readonly ShareHolder[]) => {
  const limits = shareFairly(holders, [], LIMITS);
  return limits.map(({ subscriptionKey, limit }) =>
    inHand(holders.find((holder) => holder.subscriptionKey === subscriptionKey) ?? proven("", ""), limit),
  );
};
const sum = (hand: readonly InHand[]) => hand.reduce((total, { count }) => total + count, 0);

describe("the fair share of a subscription", () => {
  test("is as much as one subscription may have in hand, less what it has", () => {
    expect(share([proven("a", "acme")])).toEqual({ a: 16 });
    expect(share([proven("a", "acme")], [inHand(proven("a", "acme"), 15)])).toEqual({ a: 1 });
    expect(share([proven("a", "acme")], [inHand(proven("a", "acme"), 16)])).toEqual({});
  });

  test("is limited for a merchant with many subscriptions together", () => {
    const many = create(1, 100, 0);

    expect(sum(taken(many))).toBe(64);
    expect(share([...many, proven("z", "other")])).toMatchObject({ z: 16 });
  });

  test("is one for every merchant and subscription before any gets two", () => {
    const two = [proven("a", "acme"), proven("b", "acme"), proven("z", "other")];

    expect(share(two, [inHand(proven("y", "acme"), 62)])).toMatchObject({ a: 1, b: 1 });
  });

  test("is small until the receiver has responded in time, and one after several timeouts", () => {
    const next = [null, 1, 2, 3].map((timeouts) => share([unproven("a", "acme", timeouts)]));

    expect(next).toEqual([{ a: 4 }, { a: 4 }, { a: 4 }, { a: 1 }]);
    expect(share([unproven("a", "acme", 3)], [inHand(unproven("a", "acme", 3), 1)])).toEqual({});
  });

  test("comes before that of a subscription of the same merchant with more timeouts", () => {
    const silent = create(1, 100, MAX_TIMEOUTS);
    const fresh = unproven("fresh", "merchant 0");

    expect(share([...silent, fresh])).toHaveProperty("fresh");
  });

  test.each([
    ["new and silent", null],
    ["silent for long", MAX_TIMEOUTS],
    ["slow", 0],
  ])("is left over for another merchant by twenty that are %s", (_, timeouts) => {
    const hand = taken(create(20, 100, timeouts));

    expect(sum(hand)).toBeLessThan(LIMITS.total);
    expect(share([proven("z", "healthy")], hand).z).toBeGreaterThanOrEqual(5);
    expect(share([unproven("z", "new")], hand).z).toBeGreaterThanOrEqual(2);
  });

  test("is kept for those who have responded when any number of others have not", () => {
    const hand = taken(create(1_000, 1, MAX_TIMEOUTS));

    expect(sum(hand)).toBe(LIMITS.unproven);
    expect(share([proven("z", "healthy")], hand)).toEqual({ z: 16 });
    expect(share([unproven("z", "new")], hand)).toEqual({});
  });
});

describe("the timeouts of a subscription in a row", () => {
  test("are counted as long as they make a difference, and anew after a response", () => {
    expect([null, 0, 1, MAX_TIMEOUTS].map((timeouts) => changesTimeouts(timeouts, true))).toEqual([
      ...[true, true, true, false],
    ]);
    expect([null, 0, 1, MAX_TIMEOUTS].map((timeouts) => changesTimeouts(timeouts, false))).toEqual([
      ...[true, false, true, true],
    ]);
  });
});
