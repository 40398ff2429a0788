import { describe, expect, test } from "vitest";
import { resetMerchant } from "../../../server/storage/fixtures.ts";
import { coverOriginal, insertPayment } from "../../../server/storage/payments/payments.ts";
import { insertSubscription } from "../../../server/storage/webhooks/subscriptions.ts";
import { createTestDatabase, useDatabase } from "../../helpers/databases.ts";
import { engines } from "../../helpers/engine.ts";
import {
  allEvents,
  allRecords,
  createPayment,
  createRefund,
  decideRefund,
  issueRefund,
  NOW,
  newMerchant,
  saveRefund,
  untilWaitingForLock,
} from "../../helpers/store-factories.ts";
import { forSuite } from "../../helpers/suite.ts";

describe.each(engines)("deleting a merchant's data on %s", (engine) => {
  const database = useDatabase(engine);

  async function _createEverything(merchant: string) {
    const { db } = database;
    const payment = await createPayment(db, { merchant, paymentId: "pay_everything" });
    const refund = await createRefund(db, payment, { requestKey: "key" });
    await createRefund(db, refund);
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

  async function _countSubscriptions(merchant: string): Promise<number> {
    const rows = await database.db
      .selectFrom("subscriptions")
      .selectAll()
      .where("merchant", "=", merchant)
      .execute();
    return rows.length;
  }

  test("succeeds while refunds are issued and payments change", async () => {
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
        emitted: true,
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
  const testDatabase = forSuite(
    () => createTestDatabase("postgres"),
    (opened) => opened.remove(),
  );

  test("takes also a refund that is being saved when it begins", async () => {
    const { db } = await testDatabase.open();
    const payment = await createPayment(db, { merchant: newMerchant() });

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

/** The helper's own error that there is nothing to refund, or that its refund was removed at once. */
function gone(error: Error): void {
  if (!/^no (payment|refund) /.test(error.message)) throw error;
}
