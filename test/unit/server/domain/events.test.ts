import { describe, expect, test } from "vitest";
import {
  categoryOf,
  EVENT_CATEGORIES,
  paymentEvent,
  refundEvent,
  resourceEvent,
  toPaymentView,
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
  const refund = {
    paymentId: "rfd_1",
    clientReferenceId: "order-1",
    originalPaymentId: "pay_1",
    amountCents: 19_99,
    requestKey: "key-1",
    failure: null,
  };

  test("of a refund is the response, and what tells it from others, in the order of the contract", () => {
    expect(refundEvent({ ...refund, status: "AUTHORIZED" }, { at, sequence: 2 })).toEqual({
      type: "refund.authorized",
      payload:
        '{"type":"refund.authorized","timestamp":"2026-11-19T05:00:00.000Z","sequence":2,' +
        '"data":{"paymentId":"rfd_1","paymentStatus":"AUTHORIZED","clientReferenceId":"order-1",' +
        '"originalPaymentId":"pay_1","amount":{"currency":"USD","value":19.99},"requestKey":"key-1"}}',
    });
  });

  test("of a failed refund has its reason, and null for a reference that was never sent", () => {
    const failure = { errorCode: "PAYMENT_COVERED", errorMessage: "Covered." } as const;
    const failed = { ...refund, clientReferenceId: null, status: "TERMINAL_FAILED", failure } as const;

    expect(JSON.parse(refundEvent(failed, { at, sequence: 1 }).payload)).toMatchObject({
      type: "refund.terminal_failed",
      data: { paymentStatus: "TERMINAL_FAILED", clientReferenceId: null, errorDetails: failure },
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
