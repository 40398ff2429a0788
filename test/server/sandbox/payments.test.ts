import { describe, expect, test } from "vitest";
import { countRows, type Duplicate, dollars, refundOf } from "../../helpers/factories.ts";
import {
  createSandboxMerchant,
  type Debit,
  eventsOf,
  problemOf,
  UNKNOWN_PAYMENT,
  violationAt,
} from "../../helpers/sandbox.ts";
import { useTestServer } from "../../helpers/server.ts";
import { forEachTest } from "../../helpers/suite.ts";

const NOW = new Date("2026-11-16T15:00:00.000Z");
const AT = NOW.toISOString();
const HUNDRED = { amount: dollars(100) };

const server = useTestServer({ realNow: () => NOW });
const acme = forEachTest(() => createSandboxMerchant(server));

describe("POST /sandbox/payments", () => {
  test("makes a payment that settled 30 days ago by default, and emits its event", async () => {
    const { status, body } = await acme.sandbox("createPayment", { body: HUNDRED });

    expect(status).toBe(201);
    expect(body).toEqual({
      kind: "DEBIT",
      paymentId: expect.stringMatching(/^pay_/),
      ...HUNDRED,
      status: "SETTLED",
      settledAt: "2026-10-17T15:00:00.000Z",
      requestKey: null,
      clientReferenceId: null,
      refundableAmount: dollars(100),
      history: [{ status: "SETTLED", at: AT }],
    });
    const { paymentId } = body as Debit;
    expect(await acme.get(paymentId)).toEqual(body);
    expect(await eventsOf(server, paymentId)).toEqual([
      { type: "payment.settled", sequence: 1, occurred_at: NOW },
    ]);
  });

  test.each([
    [{ status: "PROCESSING", requestKey: "debit-1", clientReferenceId: "order-1" }, null, []],
    [{ settledAt: "2026-11-13T10:00:00-05:00" }, "2026-11-13T15:00:00.000Z", ["payment.settled"]],
    [{ status: "FAILED" }, null, ["payment.failed"]],
    [{ status: "COVERED" }, "2026-10-17T15:00:00.000Z", ["payment.covered"]],
    [{ status: "COVERED", settledAt: AT }, AT, ["payment.covered"]],
  ])("makes what %j says", async (fields, settledAt, events) => {
    const payment = await acme.create(fields);

    expect(payment).toMatchObject({ ...fields, settledAt });
    expect(payment.history).toEqual([{ status: payment.status, at: AT }]);
    expect((await eventsOf(server, payment.paymentId)).map(({ type }) => type)).toEqual(events);
  });

  test("takes no key that a payment or refund of the merchant has, and names the record that has it", async () => {
    const { paymentId } = await acme.create({ requestKey: "debit-1" });
    const refund = await acme.issue(refundOf(paymentId, { requestKey: "refund-1" }));
    const before = await countRows(server);
    const existing = {
      "debit-1": { paymentId },
      "refund-1": { ...refund.body, originalPaymentId: paymentId, amount: dollars(1) },
    };

    for (const [requestKey, record] of Object.entries(existing)) {
      const { status, body } = await acme.sandbox("createPayment", { body: { ...HUNDRED, requestKey } });

      const { detail, existing } = body as unknown as Duplicate;
      expect([status, existing]).toEqual([409, record]);
      expect(detail).toContain("no payment was made");
    }
    expect(await countRows(server)).toEqual(before);
  });

  test.each([
    [{ settledAt: "2026-11-16T15:00:00.001Z" }, expect.stringContaining(AT)],
    [{ settledAt: "2026-06-30T23:59:60Z" }, expect.stringContaining("a time")],
    [{ settledAt: "2019-12-31T12:00:00Z" }, "must lie in the years 2020 to 2099"],
    [{ status: "PROCESSING", settledAt: AT }, expect.stringContaining("PROCESSING")],
    [{ status: "FAILED", settledAt: AT }, expect.stringContaining("FAILED")],
  ])("refuses %j", async (fields, message) => {
    const before = await countRows(server);

    const response = await acme.sandbox("createPayment", { body: { ...HUNDRED, ...fields } });

    expect(problemOf(response)).toEqual(violationAt("/settledAt", message));
    expect(await countRows(server)).toEqual(before);
  });
});

describe("POST /sandbox/payments/{paymentId}/settle", () => {
  const settle = (paymentId: string, settledAt: string) =>
    acme.sandbox("settlePayment", { path: { paymentId }, body: { settledAt } });

  test("settles an original payment at the time that is given", async () => {
    const { paymentId } = await acme.create({ status: "PROCESSING" });

    const { body } = await settle(paymentId, "2026-11-13T10:30:00-05:00");

    expect(body).toMatchObject({ status: "SETTLED", settledAt: "2026-11-13T15:30:00.000Z" });
    expect(body.history.at(-1)).toEqual({ status: "SETTLED", at: AT });
  });

  test.each([
    ["2026-11-16T15:00:00.001Z", `must not lie after the sandbox's time, which is ${AT}`],
    ["2019-12-31T23:59:59Z", "must lie in the years 2020 to 2099"],
  ])("refuses the time %s", async (settledAt, message) => {
    const payment = await acme.create({ status: "PROCESSING" });

    expect(problemOf(await settle(payment.paymentId, settledAt))).toEqual(violationAt("/settledAt", message));
    expect(await acme.get(payment.paymentId)).toEqual(payment);
  });
});

test.each(["settlePayment", "failPayment", "coverPayment"] as const)(
  "%s knows no refund, for a refund has no moves of its own",
  async (id) => {
    const { body: refund } = await acme.issue(refundOf((await acme.create()).paymentId));

    const response = await acme.sandbox(id, { path: { paymentId: refund.paymentId } });

    expect(problemOf(response)).toEqual(UNKNOWN_PAYMENT);
    expect(await acme.get(refund.paymentId)).toMatchObject({ paymentStatus: "AUTHORIZED" });
  },
);
