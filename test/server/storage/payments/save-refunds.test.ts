import { describe, expect, test } from "vitest";
import type { Db } from "../../../../server/storage/database/db-types.ts";
import {
  type NewPayment,
  transitionOriginal,
} from "../../../../server/storage/payments/original-transitions.ts";
import type { DebitRecord } from "../../../../server/storage/payments/payment-record.ts";
import { findByRequestKey } from "../../../../server/storage/payments/payment-record.ts";
import { useDatabase } from "../../../helpers/databases.ts";
import { engines } from "../../../helpers/engine.ts";
import {
  allEvents,
  allRefunds,
  createPayment,
  createRefund,
  decideRefund,
  getDebit,
  getRefund,
  issueRefund,
  LONG_AGO,
  NOW,
  newMerchant,
  saveRefund,
} from "../../../helpers/store-factories.ts";

describe.each(engines)("a refund on %s", (engine) => {
  const database = useDatabase(engine);

  test("is distinguished from one of another merchant with the same key and paymentId", async () => {
    const { db } = database;
    const [firstMerchant, secondMerchant] = [newMerchant(), newMerchant()];
    await createPayment(db, { merchant: firstMerchant, paymentId: "pay_same" });
    await createPayment(db, { merchant: secondMerchant, paymentId: "pay_same" });

    const wish = { requestKey: "same" };
    const refunds = [
      await createRefund(db, { merchant: firstMerchant, paymentId: "pay_same" }, wish),
      await createRefund(db, { merchant: secondMerchant, paymentId: "pay_same" }, wish),
    ];

    expect(await findByRequestKey(db, { merchant: firstMerchant, requestKey: "same" })).toEqual(refunds[0]);
    expect(await findByRequestKey(db, { merchant: secondMerchant, requestKey: "same" })).toEqual(refunds[1]);
    expect(await allEvents(db, firstMerchant)).toHaveLength(1);
  });

  test.each([
    " key",
    "key ",
    "KEY",
    "ke\u0301y",
    "k\u00e9y",
    "'; drop table payments; --",
    "🔑",
    "\uFEFFkey",
  ])("is found by its key %j, byte for byte", async (requestKey) => {
    const { db } = database;
    const payment = await createPayment(db, { merchant: newMerchant() });
    await createRefund(db, payment, { requestKey: "key" });

    const refund = await createRefund(db, payment, { requestKey });

    expect(await findByRequestKey(db, { merchant: payment.merchant, requestKey })).toEqual(refund);
  });

  type Change = (db: Db, payment: DebitRecord) => Promise<unknown>;
  test.each<[since: string, payment: Partial<NewPayment>, change: Change, afterwards: object]>([
    [
      "the original payment has failed",
      { settledAt: LONG_AGO },
      (db, payment) => transitionOriginal(db, payment, { to: "FAILED", now: NOW }),
      { failure: { errorCode: "CUSTOMER_NOT_DEBITED" } },
    ],
    [
      "the original payment has settled",
      { status: "PROCESSING" },
      (db, payment) => transitionOriginal(db, payment, { to: "SETTLED", settledAt: NOW, now: NOW }),
      { status: "PENDING" },
    ],
    [
      "another day of settlement was entered",
      { settledAt: LONG_AGO },
      (db, payment) =>
        db
          .updateTable("payments")
          .set({ settled_at: NOW })
          .where("payment_id", "=", payment.paymentId)
          .execute(),
      { status: "PENDING" },
    ],
    [
      "others have taken what was left",
      {},
      (db, payment) => createRefund(db, payment, { amountCents: 100_00 }),
      { failure: { errorCode: "AMOUNT_EXCEEDS_REFUNDABLE" } },
    ],
  ])("is not saved when %s since the decision", async (_, given, change, afterwards) => {
    const { db } = database;
    const payment = await createPayment(db, { merchant: newMerchant(), ...given });
    const decided = await decideRefund(db, payment);
    await change(db, payment);

    expect(await saveRefund(db, decided)).toBe(false);
    expect(await issueRefund(db, payment)).toMatchObject(afterwards);
  });

  test("adds up to the cent over two hundred refunds of one payment", async () => {
    const { db } = database;
    const merchant = newMerchant();
    const payment = await createPayment(db, { merchant, amountCents: 1_99 });

    const issued = await Promise.all(
      Array.from({ length: 200 }, () => issueRefund(db, payment, { amountCents: 1 })),
    );

    expect(issued.filter((refund) => refund !== "duplicate" && refund.status === "PENDING")).toHaveLength(
      199,
    );
    expect(await getDebit(db, payment)).toMatchObject({ refundedCents: 1_99 });
  });

  test("issued while the original payment fails never outlives it", async () => {
    const { db } = database;
    const merchant = newMerchant();
    const payment = await createPayment(db, { merchant });

    const calls = Array.from({ length: 20 }, () => issueRefund(db, payment, { amountCents: 1_00 }));
    await Promise.all([...calls, transitionOriginal(db, payment, { to: "FAILED", now: NOW })]);

    const refunds = await allRefunds(db, merchant);
    expect(refunds).toHaveLength(20);
    expect(new Set(refunds.map((refund) => refund.status))).toEqual(new Set(["TERMINAL_FAILED"]));
    expect(await getDebit(db, payment)).toMatchObject({ status: "FAILED", refundedCents: 0 });
  });

  test("ends once when its original payment fails and is covered at once", async () => {
    const { db } = database;
    const payment = await createPayment(db, { merchant: newMerchant() });
    const refund = await createRefund(db, payment);

    const statuses = ["FAILED", "COVERED", "FAILED", "COVERED"] as const;
    const results = await Promise.all(
      statuses.map((to) => transitionOriginal(db, payment, { to, now: NOW })),
    );

    expect(results.filter((result) => result.kind === "changed")).toHaveLength(1);
    expect(results.filter((result) => result.kind === "impossible")).toHaveLength(3);
    expect((await getRefund(db, refund)).history).toHaveLength(2);
  });
});
