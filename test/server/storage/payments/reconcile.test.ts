import { sql } from "kysely";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { hold, release } from "../../../../server/storage/payments/holds.ts";
import { transitionOriginal } from "../../../../server/storage/payments/original-transitions.ts";
import type { DebitRecord, RefundRecord } from "../../../../server/storage/payments/payment-record.ts";
import { listPayouts } from "../../../../server/storage/payments/payout-feed.ts";
import { type KnownRefund, reconcileRefund } from "../../../../server/storage/payments/reconcile.ts";
import { useDatabase } from "../../../helpers/databases.ts";
import { engines } from "../../../helpers/engine.ts";
import {
  allEvents,
  authorizeDueIn,
  createPayment,
  createRefund,
  getDebit,
  getRefund,
  issueRefund,
  LATER,
  LONG_AGO,
  NOW,
  newMerchant,
  publish,
} from "../../../helpers/store-factories.ts";

describe.each(engines)("a refund that the payment system knows, on %s", (engine) => {
  const database = useDatabase(engine);
  beforeEach(() => hold(database.db, { reason: "restored" }));
  afterEach(() => sql.raw("truncate payments, events, payouts_waiting, payouts, holds").execute(database.db));

  const known = (original: DebitRecord, more: Partial<KnownRefund> = {}): KnownRefund => ({
    merchant: original.merchant,
    paymentId: "rfd_known",
    requestKey: "key",
    originalPaymentId: original.paymentId,
    amountCents: 10_00,
    status: "AUTHORIZED",
    clientReferenceId: "order",
    softDescriptor: "Shoes",
    authorizedAt: NOW,
    ...more,
  });
  const asKnown = (refund: RefundRecord, original: DebitRecord, more: Partial<KnownRefund> = {}) =>
    known(original, { paymentId: refund.paymentId, requestKey: refund.requestKey, ...more });
  const reconcile = (refund: KnownRefund) => reconcileRefund(database.db, refund, LATER);
  /** What is paid out when all that is due and not held is authorized. */
  async function payOut() {
    const { db } = database;
    await release(db, { merchant: undefined });
    await authorizeDueIn(db, LATER);
    await publish(db);
    const payouts = await listPayouts(db, { after: 0, limit: 100 });
    return payouts === "unknown-cursor" ? [] : payouts.map(({ paymentId }) => paymentId);
  }
  const settled = (more = {}) => createPayment(database.db, { merchant: newMerchant(), ...more });

  test("is inserted with its event if it is missing, so that its requestKey is used and its amount is not left", async () => {
    const { db } = database;
    const original = await settled();

    expect(await reconcile(known(original))).toBe("inserted");
    expect(await reconcile(known(original))).toBe("unchanged");

    expect(await getRefund(db, { ...original, paymentId: "rfd_known" })).toMatchObject({
      kind: "REFUND",
      merchant: original.merchant,
      paymentId: "rfd_known",
      status: "AUTHORIZED",
      amountCents: 10_00,
      requestKey: "key",
      clientReferenceId: "order",
      softDescriptor: "Shoes",
      originalPaymentId: original.paymentId,
      dueAt: null,
      failure: null,
      history: [{ status: "AUTHORIZED", at: NOW.toISOString() }],
      createdAt: NOW,
    });
    expect(await getDebit(db, original)).toMatchObject({ refundedCents: 10_00 });
    expect(await allEvents(db, original.merchant)).toMatchObject([
      { type: "refund.authorized", resource_id: "rfd_known", sequence: 2, occurred_at: NOW },
    ]);
    expect(await issueRefund(db, original, { requestKey: "key" })).toBe("duplicate");
    expect(await payOut()).toEqual([]);
  });

  test("is inserted as failed if its payment has failed since", async () => {
    const { db } = database;
    const original = await settled();
    await transitionOriginal(db, original, { to: "COVERED", now: NOW });

    expect(await reconcile(known(original, { status: "TERMINAL_FAILED" }))).toBe("inserted");

    expect(await getRefund(db, { ...original, paymentId: "rfd_known" })).toMatchObject({
      status: "TERMINAL_FAILED",
      failure: { errorCode: "PAYMENT_COVERED" },
      history: [{ status: "AUTHORIZED" }, { status: "TERMINAL_FAILED" }],
    });
    expect(await getDebit(db, original)).toMatchObject({ refundedCents: 0 });
  });

  test("is authorized and not paid again if it is still waiting here", async () => {
    const { db } = database;
    const original = await settled();
    const pending = await createRefund(db, original);
    const line = asKnown(pending, original);

    expect([await reconcile(line), await reconcile(line)]).toEqual(["kept", "unchanged"]);

    expect(await getRefund(db, pending)).toMatchObject({
      status: "AUTHORIZED",
      history: [{ status: "PENDING" }, { status: "AUTHORIZED", at: LATER.toISOString() }],
    });
    expect(await payOut()).toEqual([]);
  });

  test("is not paid again if it is authorized here, and not published yet", async () => {
    const { db } = database;
    const original = await settled({ settledAt: LONG_AGO });
    await release(db, { merchant: undefined });
    const [keptRefund, paidRefund] = [await createRefund(db, original), await createRefund(db, original)];
    await hold(db, { reason: "restored" });

    expect(await reconcile(asKnown(keptRefund, original))).toBe("kept");
    expect(await payOut()).toEqual([paidRefund.paymentId]);
    expect(await reconcile(asKnown(paidRefund, original))).toBe("unchanged");
  });

  test("counts as the payout of a refund with the same requestKey that was issued after the restore", async () => {
    const { db } = database;
    const original = await settled();
    const repeated = await createRefund(db, original, { requestKey: "key" });

    expect(await reconcile(known(original))).toEqual({ keptAs: repeated.paymentId });
    expect(await reconcile(known(original))).toBe("unchanged");

    expect(await payOut()).toEqual([]);
    expect(await getRefund(db, repeated)).toMatchObject({ status: "AUTHORIZED" });
  });

  type Case = readonly [string, (original: DebitRecord) => Promise<KnownRefund>, string];
  test.each<Case>([
    [
      "other values",
      async (original) =>
        asKnown(
          await createRefund(database.db, original, { requestKey: "one" }),
          await settled({ merchant: original.merchant }),
          {
            amountCents: 9_99,
            requestKey: "other",
          },
        ),
      'requestKey is "one" here, originalPaymentId is pay_1 here, amount.value is 10 here',
    ],
    [
      "a requestKey that another refund has",
      async (original) => {
        await createRefund(database.db, original, { requestKey: "key" });
        return known(original, { amountCents: 9_99 });
      },
      "requestKey is that of rfd_… here, whose payment or amount is another",
    ],
    [
      "a requestKey of a refund that was paid out since the restore",
      async (original) => {
        await createRefund(database.db, original, { requestKey: "key" });
        await payOut();
        return known(original);
      },
      "requestKey is that of rfd_… here, which was given to the payment system as well",
    ],
    [
      "the status of a refund that has failed here",
      async (original) =>
        asKnown(await createRefund(database.db, original, { amountCents: 200_00 }), original, {
          amountCents: 200_00,
        }),
      "status is TERMINAL_FAILED here",
    ],
    [
      "a status that its payment can't have given it",
      async (original) => known(original, { status: "TERMINAL_FAILED" }),
      "status can't be TERMINAL_FAILED, because the original payment is SETTLED here",
    ],
    [
      "more than is left",
      async (original) => {
        await createRefund(database.db, original, { amountCents: 95_00 });
        return known(original);
      },
      "amount.value is more than the 5 that are left of the original payment here",
    ],
    [
      "the id of an original payment",
      async (original) => known(original, { paymentId: original.paymentId }),
      "paymentId is an original payment here",
    ],
  ])("differs and changes nothing by %s", async (_, create, differs) => {
    const original = await settled({ paymentId: "pay_1" });
    const line = await create(original);
    const before = await allEvents(database.db, original.merchant);

    const result = await reconcile(line);

    const text = JSON.stringify(result).replace(/rfd_[\w-]{36}/, "rfd_…");
    expect(JSON.parse(text)).toEqual({ differs });
    expect(await allEvents(database.db, original.merchant)).toEqual(before);
  });

  test("is refused if its payment is missing, or its merchant is not held", async () => {
    const original = await settled();
    const missing = known(original, { originalPaymentId: "pay_2" });
    await release(database.db, { merchant: undefined });

    expect([await reconcile(missing), await reconcile(known(original))]).toEqual([
      { error: expect.stringContaining("import it first") },
      { error: expect.stringContaining("run hold first") },
    ]);
    expect(await allEvents(database.db, original.merchant)).toEqual([]);
  });
});
