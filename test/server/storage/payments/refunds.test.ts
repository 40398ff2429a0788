import { describe, expect, test } from "vitest";
import { findByRequestKey } from "../../../../server/storage/payments/payment-queries.ts";
import { failOriginal, settleOriginal } from "../../../../server/storage/payments/payments.ts";
import { useDatabase } from "../../../helpers/databases.ts";
import { engines } from "../../../helpers/engine.ts";
import {
  allEvents,
  allRefunds,
  createPayment,
  createRefund,
  decideRefund,
  getDebit,
  issueRefund,
  LATER,
  LONG_AGO,
  NOW,
  newMerchant,
  saveRefund,
} from "../../../helpers/store-factories.ts";

describe.each(engines)("a refund on %s", (engine) => {
  const database = useDatabase(engine);

  /** @decision D20 D20a */
  test("is saved with its event, and takes its amount from what is left", async () => {
    const { db } = database;
    const merchant = newMerchant();
    const payment = await createPayment(db, { merchant });

    const refund = await createRefund(db, payment, { requestKey: "key-1", clientReferenceId: "order-1" });

    const dueAt = new Date("2026-11-19T05:00:00.000Z");
    expect(refund).toEqual({
      kind: "REFUND",
      paymentId: refund.paymentId,
      merchant,
      status: "PENDING",
      amountCents: 10_00,
      requestKey: "key-1",
      clientReferenceId: "order-1",
      softDescriptor: null,
      originalPaymentId: payment.paymentId,
      dueAt,
      failure: null,
      history: [{ status: "PENDING", at: NOW.toISOString() }],
      createdAt: NOW,
    });
    expect(await getDebit(db, payment)).toEqual({ ...payment, refundedCents: 10_00 });
    expect(await allEvents(db, merchant)).toEqual([
      {
        type: "refund.pending",
        resource_id: refund.paymentId,
        sequence: 1,
        occurred_at: NOW,
        payload: {
          type: "refund.pending",
          timestamp: NOW.toISOString(),
          sequence: 1,
          data: {
            paymentId: refund.paymentId,
            paymentStatus: "PENDING",
            clientReferenceId: "order-1",
            originalPaymentId: payment.paymentId,
            amount: { currency: "USD", value: 10 },
            requestKey: "key-1",
          },
        },
      },
    ]);
  });

  test("that fails at once keeps its reason and takes nothing from what is left", async () => {
    const { db } = database;
    const merchant = newMerchant();
    const payment = await createPayment(db, { merchant });

    const refund = await createRefund(db, payment, { amountCents: 100_01 });

    const failure = {
      errorCode: "AMOUNT_EXCEEDS_REFUNDABLE",
      errorMessage: "The amount is more than what is left to refund of the original payment.",
    };
    expect(refund).toMatchObject({ status: "TERMINAL_FAILED", failure, dueAt: null });
    expect(await getDebit(db, payment)).toEqual(payment);
    expect(await allEvents(db, merchant)).toMatchObject([
      {
        type: "refund.terminal_failed",
        payload: { data: { clientReferenceId: null, errorDetails: failure } },
      },
    ]);
  });

  test("is distinguished from one of another merchant with the same key and paymentId", async () => {
    const { db } = database;
    const [one, other] = [newMerchant(), newMerchant()];
    await createPayment(db, { merchant: one, paymentId: "pay_same" });
    await createPayment(db, { merchant: other, paymentId: "pay_same" });

    const wish = { requestKey: "same" };
    const refunds = [
      await createRefund(db, { merchant: one, paymentId: "pay_same" }, wish),
      await createRefund(db, { merchant: other, paymentId: "pay_same" }, wish),
    ];

    expect(await findByRequestKey(db, { merchant: one, requestKey: "same" })).toEqual(refunds[0]);
    expect(await findByRequestKey(db, { merchant: other, requestKey: "same" })).toEqual(refunds[1]);
    expect(await allEvents(db, one)).toHaveLength(1);
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

  test("is not saved when the original payment has failed since the decision", async () => {
    const { db } = database;
    const payment = await createPayment(db, { merchant: newMerchant(), settledAt: LONG_AGO });
    const decided = await decideRefund(db, payment);
    await failOriginal(db, { ...payment, now: NOW });

    expect(await saveRefund(db, decided)).toBe(false);
    expect(await issueRefund(db, payment)).toMatchObject({ failure: { errorCode: "CUSTOMER_NOT_DEBITED" } });
  });

  test("is not saved when the original payment has settled since the decision", async () => {
    const { db } = database;
    const payment = await createPayment(db, { merchant: newMerchant(), status: "PROCESSING" });
    const decided = await decideRefund(db, payment);
    await settleOriginal(db, { ...payment, settledAt: NOW, now: NOW });

    expect(await saveRefund(db, decided)).toBe(false);
    expect(await issueRefund(db, payment, { now: LATER })).toMatchObject({ status: "AUTHORIZED" });
  });

  test("is not saved when another day of settlement was entered since the decision", async () => {
    const { db } = database;
    const payment = await createPayment(db, { merchant: newMerchant(), settledAt: LONG_AGO });
    const decided = await decideRefund(db, payment);
    await db
      .updateTable("payments")
      .set({ settled_at: NOW })
      .where("payment_id", "=", payment.paymentId)
      .execute();

    expect(await saveRefund(db, decided)).toBe(false);
    expect(await issueRefund(db, payment)).toMatchObject({ status: "PENDING" });
  });

  /** @decision D12a */
  test("is not saved when others have taken what was left since the decision", async () => {
    const { db } = database;
    const payment = await createPayment(db, { merchant: newMerchant() });
    const decided = await decideRefund(db, payment, { amountCents: 60_00 });
    await createRefund(db, payment, { amountCents: 60_00 });

    expect(await saveRefund(db, decided)).toBe(false);
  });

  test("is saved on an older decision that still holds", async () => {
    const { db } = database;
    const payment = await createPayment(db, { merchant: newMerchant() });
    const decided = await decideRefund(db, payment, { amountCents: 60_00 });
    await createRefund(db, payment, { amountCents: 40_00 });

    expect(await saveRefund(db, decided)).toBe(true);
    expect(await getDebit(db, payment)).toMatchObject({ refundedCents: 100_00 });
  });

  /** @decision D13 */
  test("adds up to the cent over a thousand refunds of one payment", async () => {
    const { db } = database;
    const merchant = newMerchant();
    const payment = await createPayment(db, { merchant, amountCents: 9_99 });

    const issued = await Promise.all(
      Array.from({ length: 1_000 }, () => issueRefund(db, payment, { amountCents: 1 })),
    );

    expect(issued.filter((refund) => refund !== "duplicate" && refund.status === "PENDING")).toHaveLength(
      999,
    );
    expect(await getDebit(db, payment)).toMatchObject({ refundedCents: 9_99 });
  });

  test("issued while the original payment fails never outlives it", async () => {
    const { db } = database;
    const merchant = newMerchant();
    const payment = await createPayment(db, { merchant });

    const calls = Array.from({ length: 20 }, () => issueRefund(db, payment, { amountCents: 1_00 }));
    await Promise.all([...calls, failOriginal(db, { ...payment, now: NOW })]);

    const refunds = await allRefunds(db, merchant);
    expect(refunds).toHaveLength(20);
    expect(new Set(refunds.map((refund) => refund.status))).toEqual(new Set(["TERMINAL_FAILED"]));
    expect(await getDebit(db, payment)).toMatchObject({ status: "FAILED", refundedCents: 0 });
  });
});
