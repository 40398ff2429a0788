import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { noTimeLimit } from "../../../../server/domain/time-limit.ts";
import { issueRefund as handleIssueRefund } from "../../../../server/http/issue-refund.ts";
import type { Db } from "../../../../server/storage/database/db-types.ts";
import type { DebitRecord, NewRefund } from "../../../../server/storage/payments/payment-record.ts";
import { createRefundQueue } from "../../../../server/storage/payments/refund-queue.ts";
import { saveRefunds } from "../../../../server/storage/payments/save-refunds.ts";
import { bindFunctions } from "../../../../server/storage/store-functions.ts";
import { useDatabase } from "../../../helpers/databases.ts";
import { engines } from "../../../helpers/engine.ts";
import {
  allEvents,
  allRefunds,
  createPayment,
  createRefund,
  decideRefund,
  getDebit,
  NOW,
  newMerchant,
} from "../../../helpers/store-factories.ts";

/** The store as in a server, and the sizes of the saved batches. */
function openQueue(db: Db) {
  const sizes: number[] = [];
  const statements = bindFunctions({ db, background: db });
  const saveCounted: typeof statements.saveRefunds = (refunds, lockTimeoutMs) => {
    sizes.push(refunds.length);
    return statements.saveRefunds(refunds, lockTimeoutMs);
  };
  return { ...createRefundQueue({ ...statements, saveRefunds: saveCounted }), statements, sizes };
}

async function createPayments(db: Db, count: number, merchant = newMerchant()) {
  return Promise.all(Array.from({ length: count }, () => createPayment(db, { merchant })));
}

function decideAll(db: Db, payments: readonly DebitRecord[], fields = {}): Promise<NewRefund[]> {
  return Promise.all(payments.map((payment) => decideRefund(db, payment, fields)));
}

describe.each(engines)("refunds of one statement on %s", (engine) => {
  const database = useDatabase(engine);

  test("are saved for several payments and merchants, each with its event", async () => {
    const { db } = database;
    const payments = [...(await createPayments(db, 2)), ...(await createPayments(db, 1))];
    const refunds = await decideAll(db, payments);

    expect(await saveRefunds(db, refunds)).toEqual([true, true, true]);

    for (const [index, payment] of payments.entries()) {
      const ofMerchant = await allRefunds(db, payment.merchant);
      const refund = ofMerchant.find(({ originalPaymentId }) => originalPaymentId === payment.paymentId);
      expect(refund).toMatchObject({ paymentId: refunds[index]?.paymentId, status: "PENDING" });
      expect(await allEvents(db, payment.merchant)).toContainEqual(
        expect.objectContaining({ type: "refund.pending", resource_id: refund?.paymentId }),
      );
      expect(await getDebit(db, payment)).toMatchObject({ refundedCents: 10_00 });
    }
  });

  test("of one payment are saved as long as they fit, in their order", async () => {
    const { db } = database;
    const payment = await createPayment(db, { merchant: newMerchant() });
    const amounts = [60_00, 41_00, 40_00];
    const refunds = await Promise.all(
      amounts.map((amountCents) => decideRefund(db, payment, { amountCents })),
    );

    const saved = await saveRefunds(db, refunds);

    // The last one would be accepted, but the list contains one that is not saved, so it is decided again.
    expect(saved).toEqual([true, false, false]);
    expect(await getDebit(db, payment)).toMatchObject({ refundedCents: 60_00 });
  });

  test("don't fail because of the amount of one that isn't saved", async () => {
    const { db } = database;
    const { sizes, ...store } = openQueue(db);
    const payment = await createPayment(db, { merchant: newMerchant() });
    const used = await createRefund(db, payment, { amountCents: 1_00 });
    const wish = { amountCents: 60_00 };
    const duplicate = await decideRefund(db, payment, { ...wish, requestKey: used.requestKey });
    const fresh = await decideRefund(db, payment, wish);

    const saved = await Promise.all([duplicate, fresh].map((refund) => store.saveRefund(refund)));
    expect(saved).toEqual([false, false]);

    expect(sizes).toEqual([2]);
    const repeated = await decideRefund(db, payment, wish);
    expect(repeated.decision.paymentStatus).toBe("PENDING");
    expect(await store.saveRefund(repeated)).toBe(true);
  });

  test("with one requestKey are saved once", async () => {
    const { db } = database;
    const merchant = newMerchant();
    const payments = await createPayments(db, 3, merchant);
    const refunds = await decideAll(db, payments, { requestKey: "same" });

    expect(await saveRefunds(db, refunds)).toEqual([true, false, false]);

    expect(await allRefunds(db, merchant)).toMatchObject([{ paymentId: refunds[0]?.paymentId }]);
    const refunded = await Promise.all(payments.map((payment) => getDebit(db, payment)));
    expect(refunded.map(({ refundedCents }) => refundedCents)).toEqual([10_00, 0, 0]);
  });

  test("are saved although the store refuses one of them", async () => {
    const { db } = database;
    const { sizes, ...store } = openQueue(db);
    const merchant = newMerchant();
    const refunds = await decideAll(db, await createPayments(db, 4, merchant));
    const [first, wide, ...others] = refunds as [NewRefund, NewRefund, ...NewRefund[]];

    const refused = { ...first, amountCents: 0 };
    const results = await Promise.allSettled(
      [refused, wide, ...others].map((refund) => store.saveRefund(refund, { isWide: refund === wide })),
    );

    const outcomes = results.map((result) => (result.status === "fulfilled" ? result.value : "refused"));
    expect(outcomes).toEqual(["refused", true, true, true]);
    expect(sizes.sort()).toEqual([1, 1, 1, 1, 3]); // one with many deliveries shares no statement
    expect(await allRefunds(db, merchant)).toHaveLength(3);
  });

  test("get 201 when the connection was lost after their commit, and are saved once", async () => {
    const { db } = database;
    const statements = bindFunctions({ db, background: db });
    let lost = 0;
    const store = createRefundQueue({
      ...statements,
      async saveRefunds(refunds, lockTimeoutMs) {
        const saved = await statements.saveRefunds(refunds, lockTimeoutMs);
        if (lost > 0 || refunds.length === 1) return saved;
        lost = refunds.length;
        throw new Error("Connection terminated unexpectedly");
      },
    });
    const merchant = newMerchant();
    const issue = handleIssueRefund(store, { realNow: () => NOW, isWrong: () => false });
    const requests = (await createPayments(db, 3, merchant)).map(({ paymentId }) => ({
      paymentId,
      amount: { currency: "USD" as const, value: 10 },
      requestKey: randomUUID(),
    }));

    const caller = { subject: null, clientId: null, tokenId: null, address: null };
    const given = { merchant, caller, trace: undefined, timeLimit: noTimeLimit };
    const none = { path: undefined as never, query: undefined as never };
    const responses = await Promise.all(requests.map((body) => issue({ body, ...given, ...none })));

    expect(lost).toBe(3);
    const refunds = await allRefunds(db, merchant);
    expect(refunds.map(({ requestKey }) => requestKey).toSorted()).toEqual(
      requests.map(({ requestKey }) => requestKey).toSorted(),
    );
    for (const [index, response] of responses.entries()) {
      const stored = refunds.find(({ requestKey }) => requestKey === requests[index]?.requestKey);
      expect(response).toMatchObject({ status: 201, body: { paymentId: stored?.paymentId } });
    }
  });
});
