import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import type { NewRefund, PaymentKey } from "../../../../server/storage/payments/payment-record.ts";
import { saveRefunds } from "../../../../server/storage/payments/save-refunds.ts";
import { beginTransaction, lockPayment, useDatabase } from "../../../helpers/databases.ts";
import {
  allRefunds,
  createPayment,
  decideRefund,
  newMerchant,
  untilWaitingForLock,
} from "../../../helpers/store-factories.ts";

/** As with two servers on one PostgreSQL: each statement here has its own connection. */
describe("refunds of one statement, at the same time on postgres", () => {
  const database = useDatabase("postgres");
  const createPayments = (count: number, merchant = newMerchant()) =>
    Promise.all(Array.from({ length: count }, () => createPayment(database.db, { merchant })));

  /** Saves two lists at once, while both have to wait for a transaction; then ends that. */
  async function saveBoth(
    lists: readonly NewRefund[][],
    transaction: Awaited<ReturnType<typeof beginTransaction>>,
  ) {
    const saving = Promise.all(lists.map((list) => saveRefunds(database.db, list)));
    await untilWaitingForLock(database.db, saving, 2);
    await transaction.rollback().execute();
    return (await saving).flat().filter(Boolean).length;
  }

  const decideAll = (payments: readonly PaymentKey[], keys: readonly string[]) =>
    Promise.all(
      payments.map((payment, index) => decideRefund(database.db, payment, { requestKey: keys[index] ?? "" })),
    );

  test("never deadlock over each other's payments", async () => {
    const payments = await createPayments(5);
    const ordered = payments.toSorted((a, b) => (a.paymentId < b.paymentId ? -1 : 1));
    const locked = await lockPayment(database.db, ordered[2] as PaymentKey);
    const there = await decideAll(ordered, ["1", "2", "3", "4", "5"]);
    const back = await decideAll(ordered.toReversed(), ["6", "7", "8", "9", "10"]);

    // Otherwise one would have locked the first two, the other the last two, and both would wait for the third.
    expect(await saveBoth([there, back], locked)).toBe(10);
  });

  test("never deadlock over each other's requestKeys", async () => {
    const merchant = newMerchant();
    const [payments, others] = [await createPayments(5, merchant), await createPayments(5, merchant)];
    const keys = ["1", "2", "3", "4", "5"];
    const [there, back] = [await decideAll(payments, keys), await decideAll(others, keys.toReversed())];
    const holder = await decideRefund(database.db, await createPayment(database.db, { merchant }), {
      requestKey: "3",
    });
    const transaction = await beginTransaction(database.db);
    await saveRefunds(transaction, [holder]);

    expect(await saveBoth([there, back], transaction)).toBe(5);
    expect((await allRefunds(database.db, merchant)).map(({ requestKey }) => requestKey).toSorted()).toEqual(
      keys,
    );
  });

  test("are decided on the payment as another transaction left it", async () => {
    const [failing, healthy] = await createPayments(2);
    if (!failing || !healthy) throw new Error("there are two");
    const refunds = [await decideRefund(database.db, failing), await decideRefund(database.db, healthy)];

    const transaction = await beginTransaction(database.db);
    await sql`update payments set status = 'FAILED', history = history || '{"status": "FAILED"}'
      where payment_id = ${failing.paymentId}`.execute(transaction);
    const saving = saveRefunds(database.db, refunds);
    await untilWaitingForLock(database.db, saving);
    await transaction.commit().execute();

    expect(await saving).toEqual([false, true]);
  });
});
