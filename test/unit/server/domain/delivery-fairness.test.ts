import { describe, expect, test } from "vitest";
import {
  type InProgressHere,
  MAX_TIMEOUTS,
  nextTimeouts,
  paceOf,
  type ShareHolder,
  SLOW_MS,
  shareFairly,
} from "../../../../server/domain/delivery-fairness.ts";

const LIMITS = { total: 256, unproven: 128, perMerchant: 64, perSubscription: 16 };

const unproven = (
  subscriptionKey: string,
  merchant: string,
  timeouts: number | null = null,
): ShareHolder => ({
  subscriptionKey,
  merchant,
  timeouts,
});
const proven = (subscriptionKey: string, merchant: string) => unproven(subscriptionKey, merchant, 0);
const busy = (holder: ShareHolder, count: number, here = count): InProgressHere => ({
  ...holder,
  count,
  here,
});
const share = (due: ShareHolder[], taken: InProgressHere[] = []) =>
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
const taken = (holders: readonly ShareHolder[]) =>
  shareFairly(holders, [], LIMITS).flatMap(({ subscriptionKey, limit }) =>
    holders.filter((one) => one.subscriptionKey === subscriptionKey).map((holder) => busy(holder, limit)),
  );
const sum = (hand: readonly InProgressHere[]) => hand.reduce((total, { count }) => total + count, 0);

/* Attempts to send are limited, so one server shares them between subscriptions: nobody's slow receiver may take them all. */
describe("the number of attempts that a subscription may have in progress", () => {
  test("is at most the limit of one subscription, less what it has in progress", () => {
    expect(share([proven("a", "acme")])).toEqual({ a: 16 });
    expect(share([proven("a", "acme")], [busy(proven("a", "acme"), 15)])).toEqual({ a: 1 });
    expect(share([proven("a", "acme")], [busy(proven("a", "acme"), 16)])).toEqual({});
  });

  test("is smaller when all subscriptions of its merchant together reach the merchant's limit", () => {
    const many = create(1, 100, 0);

    const sumOf = (shares: { limit: number }[]) => shares.reduce((total, { limit }) => total + limit, 0);
    expect([sum(taken(many)), sumOf(shareFairly(many, [], { ...LIMITS, perMerchant: 10 }))]).toEqual([
      64, 10,
    ]);
    expect(share([...many, proven("z", "other")])).toMatchObject({ z: 16 });
    const alone = shareFairly(create(1, 400, 0), [], { ...LIMITS, perMerchant: 256 });
    expect(sumOf(alone)).toBe(256 / 4);
  });

  test("is one for every subscription before any gets two", () => {
    const two = [proven("a", "acme"), proven("b", "acme"), proven("z", "other")];

    expect(share(two, [busy(proven("y", "acme"), 62)])).toMatchObject({ a: 1, b: 1 });
  });

  test("is given first to those subscriptions of a merchant that have timed out least", () => {
    const holders = [
      unproven("b", "acme", 1),
      unproven("a", "acme", 3),
      unproven("c", "acme"),
      proven("d", "acme"),
    ];

    const order = shareFairly(holders, [], LIMITS).map(({ subscriptionKey }) => subscriptionKey);

    expect(order).toEqual(["c", "d", "b", "a"]);
  });

  test("is four until its receiver has responded in time, and one after several timeouts", () => {
    const next = [null, 1, 2, 3].map((timeouts) => share([unproven("a", "acme", timeouts)]));

    expect(next).toEqual([{ a: 4 }, { a: 4 }, { a: 4 }, { a: 1 }]);
    expect(share([unproven("a", "acme", 3)], [busy(unproven("a", "acme", 3), 1)])).toEqual({});
  });

  test.each([
    ["new and silent", null],
    ["silent for long", MAX_TIMEOUTS],
    ["slow", 1],
    ["quick", 0],
  ])("is at least two beside twenty merchants whose receivers are %s", (_, timeouts) => {
    const hand = taken(create(20, 100, timeouts));

    expect(sum(hand)).toBeLessThan(LIMITS.total);
    expect(share([proven("z", "healthy")], hand).z).toBeGreaterThanOrEqual(5);
    expect(share([unproven("z", "new")], hand).z).toBeGreaterThanOrEqual(2);
  });

  test("is as usual for receivers that have responded, however many others have not", () => {
    const hand = taken(create(1_000, 1, MAX_TIMEOUTS));

    expect(sum(hand)).toBe(LIMITS.unproven * 0.75);
    expect(share([proven("z", "healthy")], hand)).toEqual({ z: 16 });
    expect(share([unproven("z", "new")], hand)).toEqual({ z: 4 });
  });

  test("is as usual for quick receivers when many become slow together, within the limit of the server", () => {
    const slow = create(256, 1, 1).map((holder) => busy(holder, 1));
    const shareOf = (mostHere: number) => shareFairly([proven("z", "healthy")], slow, LIMITS, mostHere);

    expect(share([unproven("y", "new"), unproven("z", "healthy", 0)], slow)).toEqual({ z: 16 });
    expect([512, 258, 256].map((most) => shareOf(most)[0]?.limit)).toEqual([16, 1, undefined]);
  });

  test("is reduced by what other servers send for the same subscription, and by nothing else that they send", () => {
    const elsewhere = create(300, 1, 1).map((holder) => busy(holder, 4, 0));

    expect(share(create(300, 1, 1), elsewhere)).toEqual({});
    expect(sum(taken(create(300, 1, 1)))).toBe(96);
    expect(Object.values(share(create(300, 2, 1).slice(1), elsewhere))).toHaveLength(96);
  });
});

describe("the timeouts of a subscription in a row", () => {
  test.each([
    ["are one more after a timeout, up to those that make a difference", "silent", [1, 1, 2, MAX_TIMEOUTS]],
    ["are one after a slow response", "slow", [1, 1, 1, 1]],
    ["are none after a quick one", "quick", [0, 0, 0, 0]],
  ] as const)("%s", (_, pace, after) => {
    expect([null, 0, 1, MAX_TIMEOUTS].map((timeouts) => nextTimeouts(timeouts, pace))).toEqual(after);
  });
});

test("an attempt is silent when it timed out, and slow when its response took longer than two seconds", () => {
  const paces = [SLOW_MS, SLOW_MS + 1].map((milliseconds) => paceOf({ timedOut: false, milliseconds }));

  expect([...paces, paceOf({ timedOut: true, milliseconds: 1 })]).toEqual(["quick", "slow", "silent"]);
});
