import { sql } from "kysely";
import { pino } from "pino";
import { afterEach, describe, expect, test, vi } from "vitest";
import { openStore } from "../../../server/storage/store.ts";
import { recordAttempts, recordPace } from "../../../server/storage/webhooks/attempts.ts";
import { type Attempt, listWaiting } from "../../../server/storage/webhooks/claims.ts";
import { Dispatcher } from "../../../server/webhooks/dispatcher.ts";
import { useDatabase } from "../../helpers/databases.ts";
import { engines } from "../../helpers/engine.ts";
import { createSubscriber, startReceiver } from "../../helpers/receiver.ts";
import { startTestServer } from "../../helpers/server.ts";
import {
  createEvent,
  createSubscription,
  LEASE_MS,
  NOW,
  newMerchant,
} from "../../helpers/store-factories.ts";

const DELIVERED = { at: NOW, status: 200, error: null, milliseconds: 5, bodyStart: "ok", endedAt: NOW };
const LIMITS = { total: 256, unproven: 128, perMerchant: 64, perSubscription: 32 };
const CLAIMS = 4;

describe.each(engines)("claims on %s", (engine) => {
  const database = useDatabase(engine);
  afterEach(() => void vi.useRealTimers());

  test("follow each other without a pause while attempts end", async () => {
    const merchant = newMerchant();
    const subscriptionKey = await createSubscription(database.db, merchant);
    await recordPace(database.db, { merchant, subscriptionKey, pace: "quick" });
    for (let made = 0; made < CLAIMS * LIMITS.perSubscription; made += 1) {
      await createEvent(database.db, merchant, `acc_${made}`);
    }
    // Timers never fire, so a pause would never end.
    vi.useFakeTimers({ toFake: ["setTimeout"] });
    const sizes: number[] = [];
    const { promise: all, resolve } = Promise.withResolvers<void>();
    const begin = async (attempts: readonly Attempt[]) => {
      sizes.push(attempts.length);
      const results = attempts.map((attempt) => ({ ...attempt, ...DELIVERED }));
      await recordAttempts(
        database.db,
        results.map((result) => ({ ...result, outcome: { kind: "delivered" } })),
      );
      for (const _ of attempts) dispatcher.wake(merchant);
      if (sizes.length === CLAIMS) resolve();
    };
    const dispatcher = new Dispatcher({
      store: await openStore(database),
      clock: { realNow: () => NOW, now: async () => NOW, isOff: () => false },
      worker: { room: () => 512, underWay: () => [], accepted: () => [], begin },
      limits: LIMITS,
      leaseMs: LEASE_MS,
      random: Math.random,
      overlapping: false,
      logger: pino({ level: "silent" }),
    });

    dispatcher.wake(merchant);
    await all;

    dispatcher.stop();
    await dispatcher.ended();
    expect(sizes).toEqual(Array.from({ length: CLAIMS }, () => LIMITS.perSubscription));
  });

  test("are made by the poll in random order, so that none comes last each time", async () => {
    for (const merchant of [newMerchant(), newMerchant(), newMerchant()]) {
      await createSubscription(database.db, merchant);
      await createEvent(database.db, merchant);
    }
    const waiting = await listWaiting(database.db, { now: NOW, after: "", limit: 100 });
    const begun: Attempt[] = [];
    let random = 1;
    const dispatcher = new Dispatcher({
      store: await openStore(database),
      clock: { realNow: () => NOW, now: async () => NOW, isOff: () => false },
      worker: {
        room: () => 1,
        underWay: () => [],
        accepted: () => [],
        begin: async (attempts) => void begun.push(...attempts),
      },
      limits: LIMITS,
      leaseMs: LEASE_MS,
      random: () => {
        random /= 2; // from one to the next less, which turns the order around
        return random;
      },
      overlapping: false,
      logger: pino({ level: "silent" }),
    });

    await dispatcher.dispatch();

    const last = waiting.findLast(({ due }) => due)?.subscriptionKey;
    expect(begun.map(({ subscriptionKey }) => subscriptionKey)).toEqual([last]);
  });
});

const PER_SUBSCRIPTION = 16;

test("a receiver gets the next deliveries while the results of the ones before are being recorded", async () => {
  await using server = await startTestServer({ engine: "postgres", webhooks: { drainMs: 0 } });
  await using receiver = await startReceiver();
  const acme = await createSubscriber(server);
  const subscriptionKey = await acme.subscribe(receiver.url);
  const { db } = server.database;
  await recordPace(db, { merchant: acme.merchant, subscriptionKey, pace: "quick" });

  const received = await db.transaction().execute(async (transaction) => {
    await sql`lock table delivery_attempts in share mode`.execute(transaction);
    for (let made = 0; made < 2 * PER_SUBSCRIPTION; made += 1) await acme.refund();
    return receiver.first(2 * PER_SUBSCRIPTION);
  });

  expect(new Set(received.map(({ webhookId }) => webhookId)).size).toBe(2 * PER_SUBSCRIPTION);
});
