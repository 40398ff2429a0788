import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createDeployment } from "../../helpers/deployment.ts";
import { engines } from "../../helpers/engine.ts";
import { dollars, refundOf } from "../../helpers/factories.ts";
import type { Debit } from "../../helpers/sandbox.ts";
import { createSandboxMerchant, eventsOf, type Merchant, merchantAt } from "../../helpers/sandbox.ts";
import type { TestServer } from "../../helpers/server.ts";
import { eventsByResource, expectConsistent, recordsOf, refundsOf, refuseEvents } from "./consistency.ts";

/** A Monday, 10:00 in New York. */
const NOW = new Date("2026-11-16T15:00:00.000Z");
const LATER = new Date("2026-11-17T15:00:00.000Z");

const endings = [
  { move: "failPayment", status: "FAILED", errorCode: "CUSTOMER_NOT_DEBITED" },
  { move: "coverPayment", status: "COVERED", errorCode: "PAYMENT_COVERED" },
] as const;

describe.each(engines)("an original payment that ends, on %s", (engine) => {
  let server: TestServer;
  let realNow = NOW;
  let acme: Merchant;

  beforeAll(async () => {
    const deployment = await createDeployment(engine);
    server = await deployment.start({ realNow: () => realNow });
    return () => deployment.remove();
  });
  beforeEach(async () => {
    realNow = NOW;
    acme = await createSandboxMerchant(server);
  });

  /** A payment with three live refunds of 10.00 and one that has failed. */
  async function createRefunded(settledAt: Date | string): Promise<Debit> {
    const payment = await acme.create({ settledAt });
    for (const value of [10, 10, 10, 100]) {
      await acme.issue(refundOf(payment.paymentId, { amount: dollars(value) }));
    }
    return payment;
  }

  describe.each(endings)("as $status", ({ move, status, errorCode }) => {
    /** @clause 6.7 11.1 @decision D11 D12 */
    test.each([
      ["PENDING", NOW],
      ["AUTHORIZED", "2026-11-01T12:00:00Z"],
    ])("takes its %s refunds to TERMINAL_FAILED and gives their amount back", async (first, settledAt) => {
      const payment = await createRefunded(settledAt);
      const before = await refundsOf(acme);
      realNow = LATER;

      const { body } = await acme.sandbox(move, { path: { paymentId: payment.paymentId } });

      expect(body).toMatchObject({ status, refundableAmount: dollars(100) });
      const refunds = await refundsOf(acme);
      const failure = { paymentStatus: "TERMINAL_FAILED", at: LATER.toISOString() };
      expect(refunds).toEqual(
        before.map((refund) =>
          refund.paymentStatus === "TERMINAL_FAILED"
            ? refund
            : {
                ...refund,
                status: "TERMINAL_FAILED",
                paymentStatus: "TERMINAL_FAILED",
                errorDetails: { errorCode, errorMessage: expect.any(String) },
                due: null,
                history: [{ paymentStatus: first, at: NOW.toISOString() }, failure],
              },
        ),
      );
      await expectConsistent(server, acme);
    });

    test("takes PENDING and AUTHORIZED refunds together", async () => {
      const { paymentId } = await acme.create({ status: "PROCESSING" });
      const { body: pending } = await acme.issue(refundOf(paymentId));
      // The first refund is due now, but can't become AUTHORIZED; a second one is AUTHORIZED from the beginning.
      const allowEvents = await refuseEvents(server, "refund.authorized", 2);
      const settledAt = "2026-11-01T12:00:00Z";
      await acme.sandbox("settlePayment", { path: { paymentId }, body: { settledAt } });
      const { body: authorized } = await acme.issue(refundOf(paymentId));

      const { body } = await acme.sandbox(move, { path: { paymentId } });
      await allowEvents();

      expect(body).toMatchObject({ refundableAmount: dollars(100) });
      const types = async (id: string) => (await eventsOf(server, id)).map(({ type }) => type);
      expect(await types(pending.paymentId)).toEqual(["refund.pending", "refund.terminal_failed"]);
      expect(await types(authorized.paymentId)).toEqual(["refund.authorized", "refund.terminal_failed"]);
      await expectConsistent(server, acme);
    });

    /** @decision D20a */
    test("changes nothing at all when a part of it can't be written", async () => {
      const { paymentId } = await createRefunded(NOW);
      const [records, events] = [await recordsOf(acme), await eventsByResource(server, acme)];

      for (const type of [`payment.${status.toLowerCase()}`, "refund.terminal_failed"]) {
        const allowEvents = await refuseEvents(server, type);
        const response = await acme.sandbox(move, { path: { paymentId } });
        await allowEvents();

        expect(response.status).toBe(500);
        expect(await recordsOf(acme)).toEqual(records);
        expect(await eventsByResource(server, acme)).toEqual(events);
      }
      expect((await acme.sandbox(move, { path: { paymentId } })).status).toBe(200);
    });
  });
});

/** @decision D12a */
test("refunds end up as their payments when they fall due, fail and are issued at once on two servers", async () => {
  await using deployment = await createDeployment("postgres");
  let realNow = NOW;
  const one = await deployment.start({ realNow: () => realNow });
  const two = await deployment.start({ realNow: () => realNow });
  const acme = await createSandboxMerchant(one);
  const elsewhere = merchantAt(two, acme);
  const payments = await Promise.all(Array.from({ length: 16 }, () => acme.create({ settledAt: NOW })));
  const issueAll = (merchant: Merchant) =>
    payments.map(({ paymentId }) => merchant.issue(refundOf(paymentId)));
  await Promise.all([...issueAll(acme), ...issueAll(elsewhere)]);
  realNow = new Date("2026-11-19T05:00:00.000Z");

  const failing = payments.slice(0, 8).map(({ paymentId }) => paymentId);
  await Promise.all([
    ...issueAll(acme),
    acme.sandbox("advanceClock", { body: { by: "PT0S" } }),
    ...failing.map((paymentId) => elsewhere.sandbox("failPayment", { path: { paymentId } })),
    elsewhere.sandbox("advanceClock", { body: { by: "PT0S" } }),
    ...issueAll(elsewhere),
  ]);

  const refunds = await refundsOf(acme);
  expect(refunds).toHaveLength(64);
  const wrong = refunds.filter(
    ({ originalPaymentId, paymentStatus }) =>
      paymentStatus !== (failing.includes(originalPaymentId) ? "TERMINAL_FAILED" : "AUTHORIZED"),
  );
  expect(wrong).toEqual([]);
  await expectConsistent(one, acme);
});
