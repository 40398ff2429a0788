import { describe, expect, test } from "vitest";
import { countRows, type Duplicate, dollars, refundOf } from "../../helpers/factories.ts";
import {
  createSandboxMerchant,
  type Debit,
  eventsOf,
  problemOf,
  violationAt,
} from "../../helpers/sandbox.ts";
import { useTestServer } from "../../helpers/server.ts";
import { forEachTest } from "../../helpers/suite.ts";

const NOW = new Date("2026-11-16T15:00:00.000Z");
const AT = NOW.toISOString();
const HUNDRED = { amount: dollars(100) };

describe("POST /sandbox/payments", () => {
  const server = useTestServer({ realNow: () => NOW });
  const acme = forEachTest(() => createSandboxMerchant(server));

  test("makes a payment that settled 30 days ago by default, and emits its event", async () => {
    const response = await acme.sandbox("createPayment", { body: HUNDRED });

    expect(response.status).toBe(201);
    expect(response.body).toEqual({
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
    const { paymentId } = response.body as Debit;
    expect(await acme.get(paymentId)).toEqual(response.body);
    expect(await eventsOf(server, paymentId)).toEqual([
      { type: "payment.settled", sequence: 1, occurred_at: NOW },
    ]);
  });

  test.each([
    [{ status: "PROCESSING" }, null, []],
    [
      { status: "SETTLED", settledAt: "2026-11-13T10:00:00-05:00" },
      "2026-11-13T15:00:00.000Z",
      ["payment.settled"],
    ],
    [{ settledAt: AT }, AT, ["payment.settled"]],
    [{ status: "FAILED" }, null, ["payment.failed"]],
    [{ status: "COVERED" }, "2026-10-17T15:00:00.000Z", ["payment.covered"]],
    [{ status: "COVERED", settledAt: AT }, AT, ["payment.covered"]],
    [{ status: "PROCESSING", requestKey: "debit-1", clientReferenceId: "order-1" }, null, []],
  ])("makes what %j says", async (fields, settledAt, events) => {
    const payment = await acme.create(fields);

    expect(payment).toMatchObject({ ...fields, settledAt });
    expect(payment.history).toEqual([{ status: payment.status, at: AT }]);
    expect((await eventsOf(server, payment.paymentId)).map(({ type }) => type)).toEqual(events);
  });

  test("takes no key that a payment or refund of the merchant has, and names the record that has it", async () => {
    const payment = await acme.create({ requestKey: "debit-1" });
    const refund = await acme.issue(refundOf(payment.paymentId, { requestKey: "refund-1" }));
    const before = await countRows(server);

    const responses = [
      await acme.sandbox("createPayment", { body: { ...HUNDRED, requestKey: "debit-1" } }),
      await acme.sandbox("createPayment", { body: { ...HUNDRED, requestKey: "refund-1" } }),
    ];

    const duplicate = {
      status: 409,
      errorCode: "DUPLICATE_REQUEST_KEY",
      detail: expect.stringContaining("no payment was made"),
    };
    expect(responses.map(problemOf)).toEqual([duplicate, duplicate]);
    expect(responses.map(({ body }) => (body as unknown as Duplicate).existing)).toEqual([
      { paymentId: payment.paymentId },
      { ...refund.body, originalPaymentId: payment.paymentId, amount: dollars(1) },
    ]);
    expect(await countRows(server)).toEqual(before);
  });

  test.each([
    [{ ...HUNDRED, settledAt: "2026-11-16T15:00:00.001Z" }, "/settledAt", expect.stringContaining(AT)],
    [{ ...HUNDRED, settledAt: "2026-06-30T23:59:60Z" }, "/settledAt", expect.stringContaining("a time")],
    [{ ...HUNDRED, settledAt: "2019-12-31T12:00:00Z" }, "/settledAt", "must lie in the years 2020 to 2099"],
    [
      { ...HUNDRED, status: "PROCESSING", settledAt: AT },
      "/settledAt",
      expect.stringContaining("PROCESSING"),
    ],
    [{ ...HUNDRED, status: "FAILED", settledAt: AT }, "/settledAt", expect.stringContaining("FAILED")],
  ])("refuses %j and names %s", async (body, pointer, message) => {
    const before = await countRows(server);

    const response = await acme.sandbox("createPayment", { body });

    expect(problemOf(response)).toEqual(violationAt(pointer, message));
    expect(await countRows(server)).toEqual(before);
  });
});
