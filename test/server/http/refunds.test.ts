import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { engines } from "../../helpers/engine.ts";
import {
  createMerchant,
  createPayment,
  dollars,
  type InvalidRequest,
  type Refund,
  refundOf,
  stored,
} from "../../helpers/factories.ts";
import { post, useTestServer } from "../../helpers/server.ts";

/** A Monday, 10:00 in New York. */
const NOW = new Date("2026-11-16T15:00:00.000Z");
const MESSAGES = {
  PAYMENT_NOT_REFUNDABLE: "The payment is itself a refund, and a refund can't be refunded.",
  CUSTOMER_NOT_DEBITED: "The original debit was not successful, so there is nothing to refund.",
  PAYMENT_COVERED: "The original payment fell into the service's cover, so it can't be refunded.",
  AMOUNT_EXCEEDS_REFUNDABLE: "The amount is more than what is left to refund of the original payment.",
};

describe.each(engines)("POST /v1/refunds on %s", (engine) => {
  let now = NOW;

  const server = useTestServer({ engine, realNow: () => now });

  const issue = (body: unknown, token?: string) =>
    post<Refund>(server.url, "/v1/refunds", body, token === undefined ? {} : { token });

  /** @clause 3.1 3.2 3.3 6.1 7.1 7.4 @decision D05 */
  test.each([
    ["settled long ago", "pay_settled", "AUTHORIZED"],
    ["settled today", "pay_recent", "PENDING"],
    ["still processing", "pay_processing", "PENDING"],
  ])("responds with 201 for a payment that is %s", async (_state, paymentId, paymentStatus) => {
    const { status, headers, body } = await issue(refundOf(paymentId, { clientReferenceId: "order-7" }));

    expect({ status, body }).toEqual({
      status: 201,
      body: { paymentId: expect.stringMatching(/^rfd_/), paymentStatus, clientReferenceId: "order-7" },
    });
    expect(headers.get("content-type")).toBe("application/json");
  });

  /** @clause 3.4 3.5 6.5 11.1 11.2 @decision D05 D06 D12 */
  test.each([
    ["whose debit failed", "pay_failed", "CUSTOMER_NOT_DEBITED"],
    ["that fell into cover", "pay_covered", "PAYMENT_COVERED"],
    ["that is itself a refund", "pay_refund", "PAYMENT_NOT_REFUNDABLE"],
  ] as const)(
    "responds with 201 TERMINAL_FAILED for a payment %s, also when the amount is too large",
    async (_state, paymentId, errorCode) => {
      const failed = {
        paymentId: expect.stringMatching(/^rfd_/),
        paymentStatus: "TERMINAL_FAILED",
        clientReferenceId: null,
        errorDetails: { errorCode, errorMessage: MESSAGES[errorCode] },
      };

      const fitting = await issue(refundOf(paymentId));
      const tooLarge = await issue(refundOf(paymentId, { amount: dollars(100.01) }));

      expect([fitting.status, fitting.body]).toEqual([201, failed]);
      expect([tooLarge.status, tooLarge.body]).toEqual([201, failed]);
    },
  );

  /** @clause 6.3 6.4 12.4 @decision D16 */
  test("starts as AUTHORIZED from midnight Eastern of the third business day after settlement", async () => {
    const paymentId = await createPayment(server, { settledAt: NOW }, NOW);

    now = new Date("2026-11-19T04:59:59.999Z");
    const before = await issue(refundOf(paymentId));
    now = new Date("2026-11-19T05:00:00.000Z");
    const from = await issue(refundOf(paymentId));
    now = NOW;

    expect([before.body.paymentStatus, from.body.paymentStatus]).toEqual(["PENDING", "AUTHORIZED"]);
  });

  /** @clause 1.3 2.1 2.2 2.5 2.7 2.8 7.3 */
  test("stores what was sent", async () => {
    const paymentId = await createPayment(server);
    const request = refundOf(paymentId, {
      amount: dollars(19.99),
      clientReferenceId: "Bestellung ✓ 😀",
      softDescriptor: "ACME Refund 42",
    });

    const { body } = await issue(request);

    expect(await stored(server, body.paymentId)).toMatchObject({
      kind: "REFUND",
      merchant: "acme",
      amountCents: 19_99,
      originalPaymentId: paymentId,
      clientReferenceId: "Bestellung ✓ 😀",
      softDescriptor: "ACME Refund 42",
      requestKey: request.requestKey,
    });
  });

  describe("clientReferenceId", () => {
    /** @clause 2.5 2.6 3.3 @decision D01 D06 D15 */
    test.each([
      ["is null when none was sent", {}, null],
      ["comes back as it was sent", { clientReferenceId: " a b " }, " a b "],
      [
        "is also read in the interface's misspelling, which never comes back",
        { clientRefefenceId: "a" },
        "a",
      ],
      [
        "may be sent in both spellings when they agree",
        { clientReferenceId: "a", clientRefefenceId: "a" },
        "a",
      ],
      ["has up to 255 code points", { clientReferenceId: "😀".repeat(255) }, "😀".repeat(255)],
    ])("%s", async (_behaviour, sent, clientReferenceId) => {
      const { body } = await issue(refundOf("pay_recent", sent));

      expect(body).toEqual({ paymentId: body.paymentId, paymentStatus: "PENDING", clientReferenceId });
    });

    /** @clause 2.6 @decision D01 */
    test("in two spellings that differ is refused at the misspelt one", async () => {
      const sent = { clientReferenceId: "a", clientRefefenceId: "A" };
      const { status, body } = await post<InvalidRequest>(
        server.url,
        "/v1/refunds",
        refundOf("pay_recent", sent),
      );

      expect([status, body.violations.map(({ pointer }) => pointer)]).toEqual([400, ["/clientRefefenceId"]]);
    });
  });

  describe("amount", () => {
    /** @clause 2.4 12.1 @decision D13 */
    test.each(["10", "10.0", "10.00", "0.01", "0.1", "9.99"])("may be written as %s", async (value) => {
      const paymentId = await createPayment(server);
      const text = JSON.stringify(refundOf(paymentId)).replace('"value":1', `"value":${value}`);

      const { status, body } = await issue(text);

      expect([status, body.paymentStatus]).toEqual([201, "AUTHORIZED"]);
      const cents = BigInt(Number(value).toFixed(2).replace(".", ""));
      expect(await stored(server, body.paymentId)).toMatchObject({ amountCents: Number(cents) });
    });

    /** @decision D11 */
    test.each([100.01, 9999999999.99])("of %s is more than is left of 100.00", async (value) => {
      const paymentId = await createPayment(server);

      const { status, body } = await issue(refundOf(paymentId, { amount: dollars(value) }));

      expect([status, body.paymentStatus, body.errorDetails]).toEqual([
        201,
        "TERMINAL_FAILED",
        { errorCode: "AMOUNT_EXCEEDS_REFUNDABLE", errorMessage: MESSAGES.AMOUNT_EXCEEDS_REFUNDABLE },
      ]);
    });

    /** @decision D11 D13 */
    test("is added up exactly in cents, to the last one", async () => {
      const paymentId = await createPayment(server);
      const statuses = [];
      for (const value of [33.33, 33.33, 33.33, 0.02, 0.01, 0.01]) {
        statuses.push((await issue(refundOf(paymentId, { amount: dollars(value) }))).body.paymentStatus);
      }

      const [taken, tooMuch] = ["AUTHORIZED", "TERMINAL_FAILED"];
      expect(statuses).toEqual([taken, taken, taken, tooMuch, taken, tooMuch]);
    });

    /** @decision D11 */
    test("of a refund that failed stays refundable", async () => {
      const paymentId = await createPayment(server);
      const statuses = [];
      for (const value of [60, 50, 40]) {
        statuses.push((await issue(refundOf(paymentId, { amount: dollars(value) }))).body.paymentStatus);
      }

      expect(statuses).toEqual(["AUTHORIZED", "TERMINAL_FAILED", "AUTHORIZED"]);
    });
  });

  describe("a payment that the merchant does not have", () => {
    /** @decision D07 D08 */
    test("gets 404 in the same way whether it is unknown or another merchant's", async () => {
      const { merchant } = await createMerchant(server);
      const foreignId = await createPayment(server, { merchant });

      const unknown = await issue(refundOf(`pay_${randomUUID()}`));
      const foreign = await issue(refundOf(foreignId));

      expect(unknown.status).toBe(404);
      expect({ ...foreign.body, instance: "" }).toEqual({ ...unknown.body, instance: "" });
      expect(namesOf(foreign.headers)).toEqual(namesOf(unknown.headers));
      expect(foreign.headers.get("content-length")).toBe(unknown.headers.get("content-length"));
      expect(unknown.body).toEqual({
        type: "urn:problem:not-found",
        title: "Not found",
        status: 404,
        detail: "You have no payment with this paymentId. Check the identifier and the access token.",
        instance: expect.stringMatching(/^urn:uuid:[0-9a-f-]{36}$/),
        errorDetails: {
          errorCode: "NOT_FOUND",
          errorMessage: "You have no payment with this paymentId. Check the identifier and the access token.",
        },
      });
    });

    test("can have an id that another merchant's payment has", async () => {
      const [first, second] = [await createMerchant(server), await createMerchant(server)];
      const paymentId = `pay_${randomUUID()}`;
      await createPayment(server, { merchant: first.merchant, paymentId, amountCents: 1_00 });
      await createPayment(server, { merchant: second.merchant, paymentId, amountCents: 2_00 });

      const full = { amount: dollars(2) };
      const [ofFirst, ofSecond] = [
        await issue(refundOf(paymentId, full), first.token),
        await issue(refundOf(paymentId, full), second.token),
      ];

      expect(ofFirst.body.paymentStatus).toBe("TERMINAL_FAILED");
      expect(ofSecond.body.paymentStatus).toBe("AUTHORIZED");
    });
  });
});

function namesOf(headers: Headers): string[] {
  return [...headers.keys()];
}
