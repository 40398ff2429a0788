import { sql } from "kysely";
import { beforeEach, describe, expect, test } from "vitest";
import type { Outcome } from "../../../../server/domain/delivery-outcome.ts";
import {
  type Attempt,
  type Claim,
  freeLeases,
  releaseClaim,
} from "../../../../server/storage/webhooks/claim-deliveries.ts";
import { listDeliveries, redeliver } from "../../../../server/storage/webhooks/deliveries.ts";
import { type AttemptResult, recordAttempts } from "../../../../server/storage/webhooks/record-attempts.ts";
import { endSomeDeliveries, endSubscription } from "../../../../server/storage/webhooks/subscriptions.ts";
import { useDatabase } from "../../../helpers/databases.ts";
import { engines } from "../../../helpers/engine.ts";
import {
  claim as claimDue,
  createEvent,
  createSubscription,
  LEASE_MS,
  NOW,
  newMerchant,
} from "../../../helpers/store-factories.ts";

const RESPONSE = { at: NOW, status: 200, error: null, milliseconds: 5, bodyStart: "ok" };
const result = (outcome: Outcome): AttemptResult => ({ ...RESPONSE, outcome });
const DELIVERED = result({ kind: "delivered" });

describe.each(engines)("deliveries on %s", (engine) => {
  let merchant: string;
  let subscriptionKey: string;

  const database = useDatabase(engine);
  beforeEach(async () => {
    merchant = newMerchant();
    subscriptionKey = await subscribe();
  });

  const subscribe = (owner = merchant) => createSubscription(database.db, owner);
  const emit = (resourceId = "acc_1") => createEvent(database.db, merchant, resourceId);
  const claim = (limit = 10, now = NOW, key = subscriptionKey, leaseMs = LEASE_MS) =>
    claimDue(database.db, { merchant, subscriptionKey: key }, { limit, now, leaseMs });
  const record = async (attempt: Claim & Partial<Attempt>, ended = DELIVERED) =>
    (await recordAttempts(database.db, [{ earlierAttempts: 0, ...attempt, ...ended, endedAt: NOW }])).has(
      attempt.webhookId,
    );
  const list = async () => {
    const page = await listDeliveries(database.db, { merchant, limit: 100 });
    if (page === "invalid-cursor") throw new Error("no cursor was given");
    return page.items;
  };
  const states = async () => (await list()).map(({ state, attempts }) => [state, attempts.length]);

  /** A delivery in progress, with an attempt and the given lease. */
  async function createAttempt(leaseMs = LEASE_MS): Promise<Attempt> {
    await emit();
    const [attempt] = await claim(10, NOW, subscriptionKey, leaseMs);
    if (!attempt) throw new Error("nothing is due");
    return attempt;
  }

  test("are recorded together, each with its own result, including one that ended the subscription", async () => {
    for (const id of ["acc_1", "acc_2", "acc_3", "acc_4"]) await emit(id);
    const other = await subscribe();
    await emit("acc_5");
    const [delivered, failed, lost, ended] = await claim(4);
    const [elsewhere] = await claim(1, NOW, other);
    if (!delivered || !failed || !lost || !ended || !elsewhere) throw new Error("nothing began");
    const retry = result({ kind: "retry", afterMs: 5_000 });
    const outcomes = [
      { ...delivered, ...DELIVERED, bodyStart: 'said "\\ok", and more' },
      { ...failed, ...retry, status: null, error: "connection refused", bodyStart: null },
      { ...lost, ...DELIVERED, fence: lost.fence - 1 },
      { ...ended, ...result({ kind: "ended" }), status: 410 },
      { ...elsewhere, ...retry },
    ].map((outcome) => ({ ...outcome, endedAt: NOW }));

    const recorded = await recordAttempts(database.db, outcomes);

    const written = [delivered, failed, ended, elsewhere];
    expect(recorded).toEqual(new Set(written.map(({ webhookId }) => webhookId)));
    const all = new Map(
      (await list()).map((delivery) => [delivery.webhookId, `${delivery.state} ${delivery.attempts.length}`]),
    );
    const seen = [...written, lost].map(({ webhookId }) => all.get(webhookId));
    expect(seen).toEqual(["DELIVERED 1", "ENDED 1", "ENDED 1", "PENDING 1", "PENDING 0"]);
  });

  describe("a lease", () => {
    test("is freed when it has run out, and its former holder writes nothing", async () => {
      const paused = await createAttempt(0);
      expect(await record(paused)).toBe(false);

      await freeLeases(database.db);
      const [next] = await claim();

      expect(next).toMatchObject({
        webhookId: paused.webhookId,
        fence: paused.fence + 1,
        earlierAttempts: 0,
      });
      expect(await record(paused)).toBe(false);
      await releaseClaim(database.db, paused);
      expect(await states()).toEqual([["PENDING", 0]]);
      expect(next && (await record(next))).toBe(true);
      expect(await states()).toEqual([["DELIVERED", 1]]);
      expect(await record(paused)).toBe(false);
      expect(await states()).toEqual([["DELIVERED", 1]]);
    });

    test("that still runs is not freed, unless no other process can hold one", async () => {
      const attempt = await createAttempt();

      await freeLeases(database.db);
      expect(await claim()).toEqual([]);
      await freeLeases(database.db, { all: true });

      expect(await claim()).toMatchObject([{ webhookId: attempt.webhookId }]);
      expect(await record(attempt)).toBe(false);
    });
  });

  test("end with their subscription, except those under way, which end with their result", async () => {
    const attempt = await createAttempt();
    await emit("acc_2");
    await emit("acc_3");
    const [claimed] = await claim(1);

    expect(await endSubscription(database.db, { merchant, subscriptionKey, now: NOW })).toBe(true);

    expect((await states()).toSorted()).toEqual([
      ["ENDED", 0],
      ["PENDING", 0],
      ["PENDING", 0],
    ]);
    expect(await claim()).toEqual([]);
    const failed = result({ kind: "retry", afterMs: 1 });
    expect([await record(attempt, failed), claimed && (await record(claimed, failed))]).toEqual([true, true]);
    expect((await states()).toSorted()).toEqual([
      ["ENDED", 0],
      ["ENDED", 1],
      ["ENDED", 1],
    ]);
  });

  test("are ended once by receivers that respond with 410 at the same time", async () => {
    for (let id = 1; id <= 20; id += 1) await emit(`acc_${id}`);
    const attempts = await claim(10);

    const recorded = await Promise.all(attempts.map((each) => record(each, result({ kind: "ended" }))));

    expect(recorded).toEqual(Array(10).fill(true));
    const endSome = () => endSomeDeliveries(database.db, { merchant, subscriptionKey, atMost: 4 });
    expect([await endSome(), await endSome(), await endSome()]).toEqual([4, 4, 2]);
    expect(new Set((await list()).map(({ state }) => state))).toEqual(new Set(["ENDED"]));
    expect(await endSubscription(database.db, { merchant, subscriptionKey, now: NOW })).toBe(false);
  });

  test("of an ended subscription are never sent again, even if a redelivery was requested", async () => {
    const delivered = await createAttempt();
    await record(delivered);
    const redeliverIt = () => redeliver(database.db, { merchant, webhookId: delivered.webhookId, now: NOW });
    await redeliverIt();

    await endSubscription(database.db, { merchant, subscriptionKey, now: NOW });

    expect(await redeliverIt()).toBeUndefined();
    expect(await claim()).toEqual([]);
    expect(await states()).toEqual([["ENDED", 1]]);
  });
});

describe("deliveries on postgres", () => {
  const database = useDatabase("postgres");

  test("whose leases have run out are freed while another transaction has locked one of them", async () => {
    const { db } = database;
    const merchant = newMerchant();
    const subscription = { merchant, subscriptionKey: await createSubscription(db, merchant) };
    await createEvent(db, merchant);
    await createEvent(db, merchant);
    const [locked, free] = await claimDue(db, subscription, { leaseMs: 0 });

    await db.transaction().execute(async (transaction) => {
      await sql`
        select from deliveries where webhook_id = ${locked?.webhookId} and merchant = ${merchant} for update`.execute(
        transaction,
      );
      await freeLeases(db);
    });

    expect(await claimDue(db, subscription)).toMatchObject([{ webhookId: free?.webhookId }]);
  });
});
