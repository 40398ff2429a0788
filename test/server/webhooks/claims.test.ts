import { randomBytes } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import { sql } from "kysely";
import { pino } from "pino";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { openStore } from "../../../server/storage/store.ts";
import { recordAttempts, recordPace } from "../../../server/storage/webhooks/attempts.ts";
import { type Attempt, listWaiting } from "../../../server/storage/webhooks/claims.ts";
import { createEncryptionKeys } from "../../../server/storage/webhooks/secrets.ts";
import { insertSubscription } from "../../../server/storage/webhooks/subscriptions.ts";
import { ownKey } from "../../../server/storage/webhooks/wrapping-keys.ts";
import type { AttemptOptions, MadeAttempt } from "../../../server/webhooks/attempt.ts";
import { Dispatcher } from "../../../server/webhooks/dispatcher.ts";
import { startWebhooks } from "../../../server/webhooks/webhooks.ts";
import { Worker } from "../../../server/webhooks/worker.ts";
import { useDatabase } from "../../helpers/databases.ts";
import { claim, createEvent, createSubscription, LEASE_MS } from "../../helpers/delivery-factories.ts";
import { engines } from "../../helpers/engine.ts";
import { createSubscriber, respondWith, startReceiver } from "../../helpers/receiver.ts";
import { startTestServer } from "../../helpers/server.ts";
import { NOW, newMerchant } from "../../helpers/store-factories.ts";

const DELIVERED = { at: NOW, status: 200, error: null, milliseconds: 5, bodyStart: "ok", endedAt: NOW };
const LIMITS = { total: 256, unproven: 128, perMerchant: 64, perSubscription: 32 };
const CLAIMS = 4;
/** More than one claim takes of a subscription, several times over. */
const DUE = 100;

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

  test("count an attempt as under way also when one before it has been recorded meanwhile", async () => {
    const merchant = newMerchant();
    const subscriptionKey = await createSubscription(database.db, merchant);
    for (const id of ["acc_1", "acc_2"]) await createEvent(database.db, merchant, id);
    const [first, second] = await claim(database.db, { merchant, subscriptionKey });
    if (!first || !second) throw new Error("two deliveries are due");
    const leaseEndsMs = performance.now() + LEASE_MS;
    const response = Promise.withResolvers<MadeAttempt>();
    const recorded = Promise.withResolvers<void>();
    const made = { ...DELIVERED, outcome: { kind: "delivered" }, timedOut: false } as const;
    const worker = new Worker({
      ...({ timeoutMs: 15_000 } as AttemptOptions),
      encryptionKeys: createEncryptionKeys([]),
      store: await openStore(database),
      realNow: () => NOW,
      logger: pino({ level: "silent" }),
      attempts: {
        makeAttempt: async (attempt) => (attempt === first ? made : response.promise),
        onRecorded: () => {},
      },
      onAttempt: () => {},
      onAccepted: () => void worker.begin([second], leaseEndsMs),
      onRoom: () => recorded.resolve(),
    });

    await worker.begin([first], leaseEndsMs);
    await recorded.promise;
    await setImmediate();

    expect(worker.underWay()).toMatchObject([{ subscriptionKey, begunAt: [expect.any(Number)] }]);
    response.resolve(made);
    worker.stop(0);
    await worker.ended();
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

  test("follow each other without a poll also while the receiver fails what it gets", async () => {
    const merchant = newMerchant();
    await using receiver = await startReceiver(respondWith(500));
    const encryptionKeys = createEncryptionKeys([ownKey(randomBytes(32))]);
    const subscription = {
      ...({ merchant, url: receiver.url, type: "ALL", details: [], now: NOW } as const),
      secretCiphertext: await encryptionKeys.encrypt(merchant, "a secret that is long enough"),
    };
    const saved = await insertSubscription(database.db, subscription);
    if (saved === "limit") throw new Error("too many subscriptions");
    await recordPace(database.db, { merchant, subscriptionKey: saved.subscriptionKey, pace: "quick" });
    for (let made = 0; made < DUE; made += 1) await createEvent(database.db, merchant, `acc_${made}`);
    const webhooks = await startWebhooks({
      ...{ database, store: await openStore(database), encryptionKeys },
      clock: { realNow: () => NOW, now: async () => NOW, isOff: () => false },
      policy: { allowLocal: true, allowPrivate: false },
      logger: pino({ level: "silent" }),
      settings: { nameservers: ["127.0.0.1:9"] },
    });

    onTestFinished(webhooks.stop);

    await webhooks.dispatch(); // as the poll does, only once here

    await expect.poll(() => new Set(receiver.received.map(({ webhookId }) => webhookId)).size).toBe(DUE);
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
