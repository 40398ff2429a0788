import { describe, expect, test } from "vitest";
import type { EVENT_NAMES } from "../../../../openapi/generated/values.ts";
import {
  categoryOf,
  paymentEvent,
  refundEvent,
  resourceEvent,
  toPaymentView,
} from "../../../../server/domain/event-payloads.ts";

const moment = { at: new Date("2026-11-19T05:00:00.000Z"), sequence: 2 };

const CATEGORIES: Readonly<Record<(typeof EVENT_NAMES)[number], string>> = {
  "refund.pending": "PAYMENT",
  "refund.authorized": "PAYMENT",
  "refund.terminal_failed": "PAYMENT",
  "payment.settled": "PAYMENT",
  "payment.failed": "PAYMENT",
  "payment.covered": "PAYMENT",
  "account.linked": "ACCOUNT",
  "account.unlinked": "ACCOUNT",
  "customer.created": "CUSTOMER",
};

test.each(Object.entries(CATEGORIES))("the event %s is of the category %s", (name, category) => {
  expect(categoryOf(name)).toBe(category);
});

describe("an event's payload", () => {
  const refund = {
    paymentId: "rfd_1",
    clientReferenceId: null,
    originalPaymentId: "pay_1",
    amountCents: 19_99,
    requestKey: "key-1",
    status: "TERMINAL_FAILED",
    failure: { errorCode: "PAYMENT_COVERED", errorMessage: "Covered." },
  } as const;

  test("of a refund is the response, and what tells it from others, in the order of the contract", () => {
    expect(refundEvent(refund, moment)).toEqual({
      type: "refund.terminal_failed",
      payload:
        '{"type":"refund.terminal_failed","timestamp":"2026-11-19T05:00:00.000Z","sequence":2,' +
        '"data":{"paymentId":"rfd_1","paymentStatus":"TERMINAL_FAILED","clientReferenceId":null,' +
        '"originalPaymentId":"pay_1","amount":{"currency":"USD","value":19.99},"requestKey":"key-1",' +
        '"errorDetails":{"errorCode":"PAYMENT_COVERED","errorMessage":"Covered."}}}',
    });
  });

  test("of an original payment has its amount in dollars", () => {
    const payment = { paymentId: "pay_1", status: "SETTLED", amountCents: 10_05 } as const;
    const { type, payload } = paymentEvent({ ...toPaymentView(payment), status: "SETTLED" }, moment);

    expect(type).toBe("payment.settled");
    expect(payload).toContain(
      '"data":{"paymentId":"pay_1","status":"SETTLED","amount":{"currency":"USD","value":10.05}}}',
    );
  });

  test.each([
    ["account.linked", { accountId: "1" }],
    ["customer.created", { customerId: "1" }],
  ] as const)("of %s is an id", (type, data) => {
    expect(JSON.parse(resourceEvent(type, "1", moment).payload)).toMatchObject({ type, data });
  });
});
