import { describe, expect, test } from "vitest";
import { createPaymentId } from "../../../../server/domain/ids.ts";
import { authorizeDue } from "../../../../server/storage/payments/due-refunds.ts";
import { getPayment } from "../../../../server/storage/payments/payment-queries.ts";
import {
  coverOriginal,
  failOriginal,
  insertPayment,
  settleOriginal,
} from "../../../../server/storage/payments/payments.ts";
import { useDatabase } from "../../../helpers/databases.ts";
import { engines } from "../../../helpers/engine.ts";
import {
  allEvents,
  createPayment,
  createRefund,
  getDebit,
  getRefund,
  LATER,
  LONG_AGO,
  NOW,
  newMerchant,
} from "../../../helpers/store-factories.ts";

describe.each(engines)("an original payment on %s", (engine) => {
  const database = useDatabase(engine);

  test("is stored as given", async () => {
    const { db } = database;
    const payment = {
      merchant: newMerchant(),
      paymentId: createPaymentId(),
      status: "COVERED",
      amountCents: 9_999_999_999_99,
      settledAt: LONG_AGO,
      requestKey: "key",
      clientReferenceId: "order-1",
      now: NOW,
      emitted: true,
    } as const;

    const record = await insertPayment(db, payment);

    expect(record).toEqual({
      kind: "DEBIT",
      merchant: payment.merchant,
      paymentId: payment.paymentId,
      status: "COVERED",
      amountCents: 9_999_999_999_99,
      refundedCents: 0,
      settledAt: LONG_AGO,
      requestKey: "key",
      clientReferenceId: "order-1",
      history: [{ status: "COVERED", at: NOW.toISOString() }],
      createdAt: NOW,
    });
    expect(await getPayment(db, payment)).toEqual(record);
    expect(await allEvents(db, payment.merchant)).toEqual([
      {
        type: "payment.covered",
        resource_id: payment.paymentId,
        sequence: 1,
        occurred_at: NOW,
        payload: {
          type: "payment.covered",
          timestamp: NOW.toISOString(),
          sequence: 1,
          data: {
            paymentId: payment.paymentId,
            status: "COVERED",
            amount: { currency: "USD", value: 9_999_999_999.99 },
          },
        },
      },
    ]);
  });

  test("is no event while it is processing, and none when it is a fixture", async () => {
    const { db } = database;
    const merchant = newMerchant();

    await createPayment(db, { merchant, status: "PROCESSING", emitted: true });
    await createPayment(db, { merchant, status: "SETTLED", emitted: false });

    expect(await allEvents(db, merchant)).toEqual([]);
  });

  test("is stored once for one paymentId and for one requestKey", async () => {
    const { db } = database;
    const payment = await createPayment(db, { merchant: newMerchant(), requestKey: "key" });
    const repeated = { ...payment, status: "PROCESSING", settledAt: null, now: NOW, emitted: true } as const;

    expect(await insertPayment(db, { ...repeated, requestKey: "another" })).toBeUndefined();
    expect(await insertPayment(db, { ...repeated, paymentId: createPaymentId() })).toBeUndefined();

    expect(await getDebit(db, payment)).toEqual(payment);
    expect(await allEvents(db, payment.merchant)).toEqual([]);
  });

  test("sets the due date of its pending refunds when it settles", async () => {
    const { db } = database;
    const merchant = newMerchant();
    const payment = await createPayment(db, { merchant, status: "PROCESSING" });
    const refund = await createRefund(db, payment);
    const failed = await createRefund(db, payment, { amountCents: 100_00 });
    expect(refund).toMatchObject({ status: "PENDING", dueAt: null });

    const result = await settleOriginal(db, { ...payment, settledAt: NOW, now: LATER });

    const settled = {
      ...payment,
      status: "SETTLED",
      settledAt: NOW,
      refundedCents: 10_00,
      history: [...payment.history, { status: "SETTLED", at: LATER.toISOString() }],
    };
    expect(result).toEqual({ kind: "changed", payment: settled, failedRefunds: [] });
    expect(await getDebit(db, payment)).toEqual(settled);
    expect(await getRefund(db, refund)).toEqual({ ...refund, dueAt: new Date("2026-11-19T05:00:00.000Z") });
    expect(await getRefund(db, failed)).toEqual(failed);
    const events = await allEvents(db, merchant);
    expect(events.map((event) => event.type).sort()).toEqual([
      "payment.settled",
      "refund.pending",
      "refund.terminal_failed",
    ]);
  });

  test("takes its refunds with it when it fails, and gives their amounts back", async () => {
    const { db } = database;
    const merchant = newMerchant();
    const payment = await createPayment(db, { merchant, amountCents: 50_00 });
    const authorized = await createRefund(db, payment);
    await authorizeDue(db, LATER);
    const pending = await createRefund(db, payment, { clientReferenceId: "order-2" });
    const failedBefore = await createRefund(db, payment, { amountCents: 50_00 });

    const result = await failOriginal(db, { ...payment, now: LATER });

    expect(result).toMatchObject({
      kind: "changed",
      payment: { status: "FAILED", refundedCents: 0, settledAt: NOW },
    });
    const failure = {
      errorCode: "CUSTOMER_NOT_DEBITED",
      errorMessage: "The original debit was not successful, so there is nothing to refund.",
    };
    const end = { status: "TERMINAL_FAILED", at: LATER.toISOString() };
    expect(await getRefund(db, pending)).toEqual({
      ...pending,
      status: "TERMINAL_FAILED",
      failure,
      history: [...pending.history, end],
    });
    expect(await getRefund(db, authorized)).toMatchObject({
      failure,
      history: [{ status: "PENDING" }, { status: "AUTHORIZED" }, end],
    });
    expect(await getRefund(db, failedBefore)).toEqual(failedBefore);

    const events = await allEvents(db, merchant);
    const of = (paymentId: string) => events.filter((event) => event.resource_id === paymentId);
    expect(of(payment.paymentId).map((event) => [event.type, event.sequence])).toEqual([
      ["payment.failed", 1],
    ]);
    expect(of(failedBefore.paymentId)).toHaveLength(1);
    expect(of(authorized.paymentId).map((event) => [event.type, event.sequence])).toEqual([
      ["refund.pending", 1],
      ["refund.authorized", 2],
      ["refund.terminal_failed", 3],
    ]);
    expect(of(pending.paymentId)[1]?.payload).toEqual({
      type: "refund.terminal_failed",
      timestamp: LATER.toISOString(),
      sequence: 2,
      data: {
        paymentId: pending.paymentId,
        paymentStatus: "TERMINAL_FAILED",
        clientReferenceId: "order-2",
        originalPaymentId: payment.paymentId,
        amount: { currency: "USD", value: 10 },
        requestKey: pending.requestKey,
        errorDetails: failure,
      },
    });
  });

  test("makes one transition when it fails and is covered at once", async () => {
    const { db } = database;
    const payment = await createPayment(db, { merchant: newMerchant() });
    const refund = await createRefund(db, payment);

    const transitions = [failOriginal, coverOriginal, failOriginal, coverOriginal];
    const results = await Promise.all(transitions.map((move) => move(db, { ...payment, now: NOW })));

    expect(results.filter((result) => result.kind === "changed")).toHaveLength(1);
    expect(results.filter((result) => result.kind === "impossible")).toHaveLength(3);
    expect((await getRefund(db, refund)).history).toHaveLength(2);
  });
});
