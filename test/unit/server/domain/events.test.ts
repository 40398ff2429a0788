import { describe, expect, test } from "vitest";
import {
  categoryOf,
  EVENT_CATEGORIES,
  paymentEvent,
  refundEvent,
  resourceEvent,
  toPaymentView,
  toRefundView,
} from "../../../../server/domain/events.ts";

const at = new Date("2026-11-19T05:00:00.000Z");

/** @decision D19 */
describe("event names", () => {
  test("each belong to one category", () => {
    expect(categoryOf("refund.pending")).toBe("PAYMENT");
    expect(categoryOf("payment.covered")).toBe("PAYMENT");
    expect(categoryOf("account.unlinked")).toBe("ACCOUNT");
    expect(categoryOf("customer.created")).toBe("CUSTOMER");
    expect(Object.keys(EVENT_CATEGORIES)).toHaveLength(9);
  });
});

describe("an event's payload", () => {
  const reference = { paymentId: "rfd_1", clientReferenceId: "order-1" };

  test("of a refund is the refund response, with the members in the order of the contract", () => {
    const view = toRefundView({ ...reference, status: "AUTHORIZED", failure: null });

    expect(refundEvent(view, { at, sequence: 2 })).toEqual({
      type: "refund.authorized",
      payload:
        '{"type":"refund.authorized","timestamp":"2026-11-19T05:00:00.000Z","sequence":2,' +
        '"data":{"paymentId":"rfd_1","paymentStatus":"AUTHORIZED","clientReferenceId":"order-1"}}',
    });
  });

  test("of a failed refund has its reason, and null for a reference that was never sent", () => {
    const failure = { errorCode: "PAYMENT_COVERED", errorMessage: "Covered." } as const;
    const view = toRefundView({
      paymentId: "rfd_1",
      clientReferenceId: null,
      status: "TERMINAL_FAILED",
      failure,
    });

    expect(JSON.parse(refundEvent(view, { at, sequence: 1 }).payload)).toEqual({
      type: "refund.terminal_failed",
      timestamp: "2026-11-19T05:00:00.000Z",
      sequence: 1,
      data: {
        paymentId: "rfd_1",
        paymentStatus: "TERMINAL_FAILED",
        clientReferenceId: null,
        errorDetails: failure,
      },
    });
  });

  test("of an original payment has its amount in dollars", () => {
    const view = {
      ...toPaymentView({ paymentId: "pay_1", status: "SETTLED", amountCents: 10_05 }),
      status: "SETTLED",
    } as const;

    expect(paymentEvent(view, { at, sequence: 1 })).toEqual({
      type: "payment.settled",
      payload:
        '{"type":"payment.settled","timestamp":"2026-11-19T05:00:00.000Z","sequence":1,' +
        '"data":{"paymentId":"pay_1","status":"SETTLED","amount":{"currency":"USD","value":10.05}}}',
    });
  });

  test("of an account or a customer is its id", () => {
    expect(JSON.parse(resourceEvent("account.linked", "acc_1", { at, sequence: 1 }).payload)).toMatchObject({
      type: "account.linked",
      data: { accountId: "acc_1" },
    });
    expect(JSON.parse(resourceEvent("customer.created", "cus_1", { at, sequence: 1 }).payload)).toMatchObject(
      {
        type: "customer.created",
        data: { customerId: "cus_1" },
      },
    );
  });
});
