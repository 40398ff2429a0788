import {
  breaks,
  closed,
  keeps,
  REFUND_ERROR,
  RETURNED_REFERENCE,
  type ResponseRow,
  text,
  withHeader,
  within,
} from "./message.ts";

const JSON_TYPE = { "Content-Type": "application/json" };

/** A valid refund. */
export const refund: ResponseRow = {
  ...{ name: "a refund", operation: "issueRefund", status: 201, headers: JSON_TYPE, allowed: true },
  body: { paymentId: "rfd_1", paymentStatus: "PENDING", clientReferenceId: null },
};

const errorDetails = { errorCode: "CUSTOMER_NOT_DEBITED", errorMessage: "x" };
const failed: ResponseRow = {
  ...refund,
  name: "a failed refund",
  body: { ...(refund.body as object), paymentStatus: "TERMINAL_FAILED", errorDetails },
};

/** A valid subscription. */
export const subscription: ResponseRow = {
  ...{ name: "a subscription", operation: "subscribeToWebhooks", status: 200, headers: JSON_TYPE },
  ...{ body: { subscriptionKey: "sub_1" }, allowed: true },
};

const members = { paymentId: text(64), clientReferenceId: RETURNED_REFERENCE };

export const successRows: readonly ResponseRow[] = [
  ...[refund, failed, subscription],
  ...within(
    refund,
    closed({ ...members, paymentStatus: { type: "string", enum: ["PENDING", "AUTHORIZED"] } }),
  ),
  ...within(
    failed,
    closed({
      ...members,
      paymentStatus: { type: "string", enum: ["TERMINAL_FAILED"] },
      errorDetails: REFUND_ERROR,
    }),
  ),
  ...within(subscription, closed({ subscriptionKey: text(64) })),
  ...breaks(refund, "/paymentStatus", { "is TERMINAL_FAILED without errorDetails": "TERMINAL_FAILED" }),
  ...breaks(refund, "/errorDetails", { "is there": errorDetails, "is null": null }),
  ...breaks(failed, "/paymentStatus", { "is PENDING": "PENDING", "is AUTHORIZED": "AUTHORIZED" }),
  ...["PAYMENT_NOT_REFUNDABLE", "PAYMENT_COVERED", "AMOUNT_EXCEEDS_REFUNDABLE", "TOLD_LATER"].flatMap(
    (code) => keeps(failed, "/errorDetails/errorCode", { [`is ${code}`]: code }),
  ),
  ...[refund, subscription].flatMap((row) =>
    withHeader(row, "Content-Type", {
      kept: [],
      broken: ["text/plain", "text/html", "application/xml", "application/problem+json", undefined],
    }),
  ),
];
