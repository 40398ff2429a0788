import { setImmediate } from "node:timers/promises";
import { pino } from "pino";
import { describe, expect, onTestFinished, test } from "vitest";
import { openStore } from "../../../server/storage/store.ts";
import { Worker } from "../../../server/webhooks/worker.ts";
import { useDatabase } from "../../helpers/databases.ts";
import { claim, createEvent, createSubscription, LEASE_MS } from "../../helpers/delivery-factories.ts";
import { engines } from "../../helpers/engine.ts";
import { resolverOf } from "../../helpers/network/nameserver.ts";
import { startReceiver } from "../../helpers/receiver.ts";
import { NOW, newMerchant } from "../../helpers/store-factories.ts";

const SECRET = "a secret that is long enough";
const TIMEOUT_MS = 15_000;
const LATER = new Date(NOW.getTime() + 10_000);

describe.each(engines)("a delivery whose secret waits for a KMS on %s", (engine) => {
  const database = useDatabase(engine);

  /** A claimed delivery, and the worker that is to send it. The secret is read when the test says so. */
  async function createWaiting() {
    const receiver = await startReceiver();
    const merchant = newMerchant();
    const subscriptionKey = await createSubscription(database.db, merchant);
    await createEvent(database.db, merchant);
    const [claimed] = await claim(database.db, { merchant, subscriptionKey });
    if (!claimed) throw new Error("a delivery is due");
    const secret = Promise.withResolvers<string>();
    const clock = { now: NOW };
    const worker = new Worker({
      store: await openStore(database),
      encryptionKeys: {
        decrypt: () => secret.promise,
        encrypt: () => Promise.reject(new Error("nothing is encrypted here")),
        isCurrent: () => true,
      },
      policy: { allowLocal: true, allowPrivate: false },
      resolver: { resolve: resolverOf({}) },
      ...{ proxy: undefined, secureContext: undefined, timeoutMs: TIMEOUT_MS },
      realNow: () => clock.now,
      random: () => 0,
      logger: pino({ level: "silent" }),
      onAttempt: () => {},
      onAccepted: () => {},
      onRoom: () => {},
    });
    onTestFinished(async () => {
      secret.resolve(SECRET);
      worker.stop(0);
      await worker.ended();
      await receiver.close();
    });
    const read = async () => {
      const { db } = database;
      const delivery = db
        .selectFrom("deliveries")
        .select(["state", "leased_until as leasedUntil", "attempts"]);
      return delivery.where("webhook_id", "=", claimed.webhookId).executeTakeFirstOrThrow();
    };
    return { attempt: { ...claimed, url: receiver.url }, receiver, worker, secret, clock, read };
  }

  const GIVEN_BACK = { state: "PENDING", leasedUntil: null, attempts: 0 };

  test("is sent with the time at which it is sent", async () => {
    const { attempt, receiver, worker, secret, clock, read } = await createWaiting();

    await worker.begin([attempt], performance.now() + LEASE_MS);
    await setImmediate();
    clock.now = LATER;
    secret.resolve(SECRET);
    const [received] = await receiver.first(1);
    await expect.poll(async () => (await read()).state).toBe("DELIVERED");

    expect(received?.headers["webhook-timestamp"]).toBe(`${LATER.getTime() / 1_000}`);
    const attempts = database.db.selectFrom("delivery_attempts").select("at");
    const { webhookId } = attempt;
    expect(await attempts.where("webhook_id", "=", webhookId).execute()).toEqual([{ at: LATER }]);
  });

  test("is released, and not sent, if its lease could end before the attempt", async () => {
    const { attempt, receiver, worker, secret, read } = await createWaiting();

    await worker.begin([attempt], performance.now() + TIMEOUT_MS - 1);
    secret.resolve(SECRET);
    await expect.poll(async () => (await read()).leasedUntil).toBe(null);

    expect(await read()).toEqual(GIVEN_BACK);
    expect(receiver.received).toEqual([]);
  });
});
