import { expect, test } from "vitest";
import { resetMerchant } from "../../../server/storage/fixtures.ts";
import { beginTransaction, useDatabase } from "../../helpers/databases.ts";
import {
  allEvents,
  allRecords,
  createPayment,
  decideRefund,
  newMerchant,
  saveRefund,
  untilWaitingForLock,
} from "../../helpers/store-factories.ts";

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
