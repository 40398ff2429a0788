import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Database } from "../../server/storage/database.ts";
import {
  type Attempt,
  type AttemptResult,
  beginAttempts,
  recordAttempts,
  releaseClaim,
  type Verdict,
} from "../../server/storage/delivery-attempts.ts";
import {
  type Claim,
  claimDeliveries,
  countInHand,
  findDueSubscriptions,
  freeLeases,
} from "../../server/storage/delivery-claims.ts";
import { listDeliveries, redeliver } from "../../server/storage/delivery-list.ts";
import { emitResourceEvent } from "../../server/storage/events.ts";
import { resetMerchant } from "../../server/storage/merchants.ts";
import {
  endSomeDeliveries,
  endSubscription,
  insertSubscription,
} from "../../server/storage/subscriptions.ts";
import { createTestDatabase, engines, type TestDatabase } from "../helpers/databases.ts";
import { NOW, newMerchant } from "./given.ts";

const LEASE_MS = 60_000;
const result = (verdict: Verdict): AttemptResult => ({
  at: NOW,
  status: 200,
  error: null,
  milliseconds: 5,
  answer: "ok",
  verdict,
});
const DELIVERED = result({ kind: "delivered" });

describe.each(engines)("deliveries on %s", (engine) => {
  let testDatabase: TestDatabase;
  let database: Database;
  let merchant: string;
  let subscriptionKey: string;

  beforeAll(async () => {
    testDatabase = await createTestDatabase(engine);
    database = await testDatabase.open();
  });
  afterAll(() => testDatabase.remove());
  beforeEach(async () => {
    merchant = newMerchant();
    subscriptionKey = await subscribe();
  });

  async function subscribe(owner = merchant): Promise<string> {
    const saved = await insertSubscription(database.db, {
      merchant: owner,
      url: "https://merchant.example.com/",
      secretCiphertext: Buffer.from("encrypted"),
      type: "ALL",
      details: [],
      now: NOW,
    });
    if (saved === "limit") throw new Error("too many");
    return saved.subscriptionKey;
  }

  const emit = (resourceId = "acc_1") =>
    emitResourceEvent(database.db, { merchant, type: "account.linked", resourceId, now: NOW });
  const claim = (limit = 10, now = NOW, key = subscriptionKey, leaseMs = LEASE_MS): Promise<Claim[]> => {
    const wish = { quotas: [{ subscriptionKey: key, limit }], now, leaseMs };
    return database.db.transaction().execute((transaction) => claimDeliveries(transaction, wish));
  };
  const begin = (claims: readonly Claim[], leaseMs = LEASE_MS): Promise<Attempt[]> =>
    beginAttempts(database.db, { claims, leaseMs });
  const record = async ({ webhookId, fence }: Claim, outcome = DELIVERED) =>
    (await recordAttempts(database.db, [{ webhookId, fence, ...outcome, endedAt: NOW }])).has(webhookId);
  const list = async () => {
    const page = await listDeliveries(database.db, { merchant, limit: 100 });
    if (page === "invalid-cursor") throw new Error("no cursor was given");
    return page.deliveries;
  };
  const states = async () => (await list()).map(({ state, attempts }) => [state, attempts.length]);

  /** A delivery in hand, with an attempt under way that has so long. */
  async function givenAttempt(leaseMs = LEASE_MS): Promise<Attempt> {
    await emit();
    const [attempt] = await begin(await claim(), leaseMs);
    if (!attempt) throw new Error("nothing began");
    return attempt;
  }

  /** @decision D20a */
  test("are written with their event, and hold what an attempt needs", async () => {
    await emit();

    const [attempt] = await begin(await claim());

    const [{ webhookId } = { webhookId: "" }] = await list();
    expect(attempt).toEqual({
      webhookId,
      fence: 2,
      subscriptionKey,
      merchant,
      url: "https://merchant.example.com/",
      secretCiphertext: expect.objectContaining({ length: 9 }),
      payload: `{"type":"account.linked","timestamp":"${NOW.toISOString()}","sequence":1,"data":{"accountId":"acc_1"}}`,
      earlier: 0,
    });
  });

  /** @decision D20a */
  test("are claimed once, as many as asked for, and none that is not due", async () => {
    for (const id of ["acc_1", "acc_2", "acc_3"]) await emit(id);

    expect(await claim(10, new Date(NOW.getTime() - 1))).toEqual([]);
    const claims = [await claim(2), await claim(2), await claim(2)];

    expect(claims.map(({ length }) => length)).toEqual([2, 1, 0]);
    expect(new Set(claims.flat().map(({ webhookId }) => webhookId)).size).toBe(3);
  });

  /** @decision D20a, D23 */
  test("are recorded together: each as it went, and as one of them ended the subscription", async () => {
    for (const id of ["acc_1", "acc_2", "acc_3", "acc_4"]) await emit(id);
    const other = await subscribe();
    await emit("acc_5");
    const [delivered, failed, lost, ended] = await begin(await claim(4));
    const [elsewhere] = await begin(await claim(1, NOW, other));
    if (!delivered || !failed || !lost || !ended || !elsewhere) throw new Error("nothing began");
    const retry = result({ kind: "retry", afterMs: 5_000 });
    const outcomes = [
      { ...delivered, ...DELIVERED, answer: 'said "\\ok", and more' },
      { ...failed, ...retry, status: null, error: "connection refused", answer: null },
      { ...lost, ...DELIVERED, fence: lost.fence - 1 },
      { ...ended, ...result({ kind: "ended" }), status: 410 },
      { ...elsewhere, ...retry },
    ].map((outcome) => ({ ...outcome, endedAt: NOW }));

    const recorded = await recordAttempts(database.db, outcomes);

    const written = [delivered, failed, ended, elsewhere];
    expect(recorded).toEqual(new Set(written.map(({ webhookId }) => webhookId)));
    const all = new Map((await list()).map((one) => [one.webhookId, `${one.state} ${one.attempts.length}`]));
    const seen = [...written, lost].map(({ webhookId }) => all.get(webhookId));
    expect(seen).toEqual(["DELIVERED 1", "ENDED 1", "ENDED 1", "PENDING 1", "PENDING 0"]);
  });

  test("are found by their subscriptions, longest due first, whatever is in hand", async () => {
    const other = await subscribe();
    await emit();
    await claim(10, NOW, other);
    const find = async (now = NOW) => {
      const due = await findDueSubscriptions(database.db, now);
      return due.filter((found) => found.merchant === merchant).map((found) => found.subscriptionKey);
    };

    expect(await find(new Date(NOW.getTime() - 1))).toEqual([]);
    expect(await find()).toEqual([subscriptionKey]);
    await emitResourceEvent(database.db, {
      merchant,
      type: "account.linked",
      resourceId: "acc_0",
      now: new Date(NOW.getTime() - 1_000),
    });
    await claim(1);
    expect(await find()).toEqual([other, subscriptionKey]);
    const inHand = (await countInHand(database.db)).filter((entry) => entry.merchant === merchant);
    expect(inHand.toSorted((a, b) => (a.subscriptionKey < b.subscriptionKey ? -1 : 1))).toEqual(
      [subscriptionKey, other]
        .toSorted()
        .map((key) => ({ subscriptionKey: key, merchant, count: 1, waiting: 1 })),
    );
  });

  describe("a lease", () => {
    test("is given back when it has run out, and who held it writes nothing", async () => {
      const paused = await givenAttempt(0);
      expect(await record(paused)).toBe(false);

      await freeLeases(database.db);
      const [next] = await begin(await claim());

      expect(next).toMatchObject({ webhookId: paused.webhookId, fence: paused.fence + 2, earlier: 0 });
      expect(await record(paused)).toBe(false);
      await releaseClaim(database.db, paused);
      expect(await states()).toEqual([["PENDING", 0]]);
      expect(next && (await record(next))).toBe(true);
      expect(await states()).toEqual([["DELIVERED", 1]]);
      expect(await record(paused)).toBe(false);
      expect(await states()).toEqual([["DELIVERED", 1]]);
    });

    test("that runs is not given back, except where nobody else can hold one", async () => {
      const attempt = await givenAttempt();

      await freeLeases(database.db);
      expect(await claim()).toEqual([]);
      await freeLeases(database.db, { all: true });

      expect(await claim()).toMatchObject([{ webhookId: attempt.webhookId }]);
      expect(await record(attempt)).toBe(false);
    });

    test("begins one attempt, and records one result", async () => {
      await emit();
      const claims = await claim();
      const begun = await Promise.all([begin(claims), begin(claims), begin(claims)]);
      const [attempt] = begun.flat();
      if (!attempt) throw new Error("nothing began");

      const recorded = await Promise.all([record(attempt), record(attempt)]);

      expect(begun.flat().length).toBe(1);
      expect(recorded.toSorted()).toEqual([false, true]);
      expect(await states()).toEqual([["DELIVERED", 1]]);
    });

    test("that has run out before its attempt began, begins none, whether or not another has it", async () => {
      await emit();
      const late = await claim(10, NOW, subscriptionKey, 0);
      expect(await begin(late)).toEqual([]);

      await freeLeases(database.db);
      await claim();
      expect(await begin(late)).toEqual([]);
    });

    test("that is given back lets another one begin at once", async () => {
      const attempt = await givenAttempt();

      await releaseClaim(database.db, attempt);

      expect(await claim()).toMatchObject([{ webhookId: attempt.webhookId }]);
      expect(await record(attempt)).toBe(false);
    });
  });

  test("of a subscription that ends are ended, except what is in hand, which ends by its result", async () => {
    const attempt = await givenAttempt();
    await emit("acc_2");
    await emit("acc_3");
    const [claimed] = await claim(1);

    expect(await endSubscription(database.db, { merchant, subscriptionKey, now: NOW })).toBe(true);

    expect((await states()).toSorted()).toEqual([
      ["ENDED", 0],
      ["PENDING", 0],
      ["PENDING", 0],
    ]);
    expect(claimed && (await begin([claimed]))).toEqual([]);
    await record(attempt, result({ kind: "retry", afterMs: 1 }));
    expect((await states()).toSorted()).toEqual([
      ["ENDED", 0],
      ["ENDED", 0],
      ["ENDED", 1],
    ]);
  });

  test("are ended once by receivers that answer 410 at the same time", async () => {
    for (let id = 1; id <= 20; id += 1) await emit(`acc_${id}`);
    const attempts = await begin(await claim(10));

    const recorded = await Promise.all(attempts.map((each) => record(each, result({ kind: "ended" }))));

    expect(recorded).toEqual(Array(10).fill(true));
    const endSome = () => endSomeDeliveries(database.db, { subscriptionKey, atMost: 4 });
    expect([await endSome(), await endSome(), await endSome()]).toEqual([4, 4, 2]);
    expect(new Set((await list()).map(({ state }) => state))).toEqual(new Set(["ENDED"]));
    expect(await endSubscription(database.db, { merchant, subscriptionKey, now: NOW })).toBe(false);
  });

  test("that are asked for again while claimed, and not yet sent, are sent once", async () => {
    await emit();
    const claims = await claim();
    const [{ webhookId = "" } = {}] = claims;
    await redeliver(database.db, { merchant, webhookId, now: NOW });

    const [attempt] = await begin(claims);

    expect(attempt && (await record(attempt))).toBe(true);
    expect(await states()).toEqual([["DELIVERED", 1]]);
  });

  test("go with the data of their merchant, and so does what was tried", async () => {
    const attempt = await givenAttempt();
    await record(attempt, result({ kind: "retry", afterMs: 1 }));
    await emit("acc_2");

    await resetMerchant(database.db, { merchant, fixtures: [], now: new Date() });

    expect(await list()).toEqual([]);
    const { db } = database;
    const tried = db.selectFrom("delivery_attempts").where("webhook_id", "=", attempt.webhookId);
    expect(await tried.selectAll().execute()).toEqual([]);
    expect(await record(attempt)).toBe(false);
  });
});
