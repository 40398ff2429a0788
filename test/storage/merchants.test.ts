import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { advance, readOffset } from "../../server/storage/clock.ts";
import type { Database } from "../../server/storage/database.ts";
import { resetMerchant } from "../../server/storage/merchants.ts";
import { coverOriginal, insertPayment } from "../../server/storage/payments.ts";
import { saveRefund } from "../../server/storage/refunds.ts";
import { insertSubscription } from "../../server/storage/subscriptions.ts";
import { findToken, insertToken } from "../../server/storage/tokens.ts";
import { createTestDatabase, engines, type TestDatabase } from "../helpers/databases.ts";
import {
  allEvents,
  allRecords,
  decideRefund,
  givenPayment,
  givenRefund,
  issueRefund,
  NOW,
  newMerchant,
  untilWaitingForLock,
} from "./given.ts";

describe.each(engines)("deleting a merchant's data on %s", (engine) => {
  let testDatabase: TestDatabase;
  let database: Database;

  beforeAll(async () => {
    testDatabase = await createTestDatabase(engine);
    database = await testDatabase.open();
  });
  afterAll(() => testDatabase.remove());

  async function givenEverything(merchant: string) {
    const { db } = database;
    const payment = await givenPayment(db, { merchant, paymentId: "pay_everything" });
    const refund = await givenRefund(db, payment, { requestKey: "key" });
    await givenRefund(db, refund);
    await coverOriginal(db, { ...payment, now: NOW });
    const url = "https://merchant.example/hooks";
    await insertSubscription(db, {
      merchant,
      url,
      secretCiphertext: Buffer.of(1),
      type: "ALL",
      details: [],
      now: NOW,
    });
  }

  async function countSubscriptions(merchant: string): Promise<number> {
    const rows = await database.db
      .selectFrom("subscriptions")
      .selectAll()
      .where("merchant", "=", merchant)
      .execute();
    return rows.length;
  }

  test("takes payments, refunds, events and subscriptions, and makes ids and keys free again", async () => {
    const { db } = database;
    const merchant = newMerchant();
    await givenEverything(merchant);

    await resetMerchant(db, { merchant, fixtures: [], now: new Date() });

    expect(await allRecords(db, merchant)).toEqual([]);
    expect(await allEvents(db, merchant)).toEqual([]);
    expect(await countSubscriptions(merchant)).toBe(0);
    await givenEverything(merchant);
    expect(await allRecords(db, merchant)).toHaveLength(3);
  });

  test("leaves other merchants, access tokens and the clock alone", async () => {
    const { db } = database;
    const [merchant, other] = [newMerchant(), newMerchant()];
    await givenEverything(merchant);
    await givenEverything(other);
    const tokenSha256 = Buffer.alloc(32, 7);
    await insertToken(db, { tokenSha256, merchant, scopes: ["refunds"] });
    await advance(db, (offsetMs) => offsetMs + 1_000);

    await resetMerchant(db, { merchant, fixtures: [], now: new Date() });

    expect(await allRecords(db, other)).toHaveLength(3);
    expect(await allEvents(db, other)).toHaveLength(4);
    expect(await countSubscriptions(other)).toBe(1);
    expect(await findToken(db, tokenSha256)).toEqual({ merchant, scopes: ["refunds"] });
    expect(await readOffset(db)).toBe(1_000);
  });

  test("goes well while refunds are issued and payments move", async () => {
    const { db } = database;
    const merchant = newMerchant();
    const ids = Array.from({ length: 10 }, (_, index) => `pay_${index}`);
    const put = (paymentId: string) =>
      insertPayment(db, {
        merchant,
        paymentId,
        status: "SETTLED",
        amountCents: 100_00,
        settledAt: NOW,
        now: NOW,
        announced: true,
      });

    const work = ids.flatMap((paymentId) => [
      put(paymentId).then(() => issueRefund(db, { merchant, paymentId }).catch(gone)),
      put(paymentId).then(() => issueRefund(db, { merchant, paymentId }).catch(gone)),
      put(paymentId).then(() => coverOriginal(db, { merchant, paymentId, now: NOW })),
    ]);
    const resets = Array.from({ length: 5 }, () =>
      resetMerchant(db, { merchant, fixtures: [], now: new Date() }),
    );
    await Promise.all([...work, ...resets]);

    await resetMerchant(db, { merchant, fixtures: [], now: new Date() });
    expect(await allRecords(db, merchant)).toEqual([]);
  });
});

describe("deleting a merchant's data on postgres", () => {
  let testDatabase: TestDatabase;

  beforeAll(async () => {
    testDatabase = await createTestDatabase("postgres");
  });
  afterAll(() => testDatabase.remove());

  test("takes also a refund that is being saved when it begins", async () => {
    const { db } = await testDatabase.open();
    const payment = await givenPayment(db, { merchant: newMerchant() });

    const reset = await db.transaction().execute(async (transaction) => {
      await saveRefund(transaction, await decideRefund(transaction, payment));
      const running = resetMerchant(db, { merchant: payment.merchant, fixtures: [], now: new Date() });
      await untilWaitingForLock(db, running);
      return { running };
    });
    await reset.running;

    expect(await allRecords(db, payment.merchant)).toEqual([]);
    expect(await allEvents(db, payment.merchant)).toEqual([]);
  });
});

/** The helper's own complaint that there is nothing to refund, or that what it issued went at once. */
function gone(error: Error): void {
  if (!/^no (payment|refund) /.test(error.message)) throw error;
}
