import { describe, expect, test } from "vitest";
import { resetMerchant } from "../../../server/storage/fixtures.ts";
import { coverOriginal } from "../../../server/storage/payments/payments.ts";
import { beginTransaction, useDatabase } from "../../helpers/databases.ts";
import { engines } from "../../helpers/engine.ts";
import {
  allEvents,
  allRecords,
  createPayment,
  decideRefund,
  issueRefund,
  NOW,
  newMerchant,
  saveRefund,
  untilWaitingForLock,
} from "../../helpers/store-factories.ts";

describe.each(engines)("deleting a merchant's data on %s", (engine) => {
  const database = useDatabase(engine);

  test("succeeds while refunds are issued and payments change", async () => {
    const { db } = database;
    const merchant = newMerchant();
    const ids = Array.from({ length: 10 }, (_, index) => `pay_${index}`);
    const put = (paymentId: string) => createPayment(db, { merchant, paymentId, emitted: true }).catch(gone);
    const reset = () => resetMerchant(db, { merchant, fixtures: [], now: new Date() });

    const work = ids.flatMap((paymentId) => [
      put(paymentId).then(() => issueRefund(db, { merchant, paymentId }).catch(gone)),
      put(paymentId).then(() => issueRefund(db, { merchant, paymentId }).catch(gone)),
      put(paymentId).then(() => coverOriginal(db, { merchant, paymentId, now: NOW })),
    ]);
    await Promise.all([...work, ...Array.from({ length: 5 }, reset)]);

    await reset();
    expect(await allRecords(db, merchant)).toEqual([]);
  });
});

const postgres = useDatabase("postgres");

test("deleting a merchant's data includes a refund that is being saved meanwhile", async () => {
  const { db } = postgres;
  const payment = await createPayment(db, { merchant: newMerchant() });
  const transaction = await beginTransaction(db);
  await saveRefund(transaction, await decideRefund(transaction, payment));

  const reset = resetMerchant(db, { merchant: payment.merchant, fixtures: [], now: new Date() });
  await untilWaitingForLock(db, reset);
  await transaction.commit().execute();
  await reset;

  expect(await allRecords(db, payment.merchant)).toEqual([]);
  expect(await allEvents(db, payment.merchant)).toEqual([]);
});

/** The helpers' own errors: the payment is there already, there is nothing to refund, or its refund was removed at once. */
function gone(error: Error): void {
  if (!/^(no (payment|refund) |the payment exists)/.test(error.message)) throw error;
}
