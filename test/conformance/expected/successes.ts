import {
  breaks,
  closed,
  keeps,
  type ResponseRow,
  refundErrorDetails,
  returnedReference,
  text,
} from "./message.ts";

const JSON_TYPE = { "Content-Type": "application/json" };

/** A valid refund. */
export const refund: ResponseRow = {
  name: "a refund",
  operation: "issueRefund",
  status: 201,
  headers: JSON_TYPE,
  body: { paymentId: "rfd_1", paymentStatus: "PENDING", clientReferenceId: null },
  allowed: true,
};

const errorDetails = { errorCode: "CUSTOMER_NOT_DEBITED", errorMessage: "x" };
const failed: ResponseRow = {
  ...refund,
  name: "a failed refund",
  body: { ...(refund.body as object), paymentStatus: "TERMINAL_FAILED", errorDetails },
};

const MEMBERS = ["paymentId", "paymentStatus", "clientReferenceId"];

const refunds: ResponseRow[] = [
  refund,
  failed,
  ...closed(refund, "", MEMBERS),
  ...closed(failed, "", MEMBERS),
  ...text(refund, "/paymentId", { max: 64 }),
  ...keeps(refund, "/paymentStatus", { "is AUTHORIZED": "AUTHORIZED" }),
  ...breaks(refund, "/paymentStatus", {
    "is FAILED": "FAILED",
    "is OTHER": "OTHER",
    "is in small letters": "pending",
    "is null": null,
    "is TERMINAL_FAILED without errorDetails": "TERMINAL_FAILED",
  }),
  ...returnedReference(refund, "/clientReferenceId"),
  ...breaks(refund, "/errorDetails", { "is there": errorDetails, "is null": null }),
  ...breaks(failed, "/paymentStatus", { "is PENDING": "PENDING", "is AUTHORIZED": "AUTHORIZED" }),
  ...refundErrorDetails(failed, "/errorDetails"),
  ...["PAYMENT_NOT_REFUNDABLE", "PAYMENT_COVERED", "AMOUNT_EXCEEDS_REFUNDABLE", "TOLD_LATER"].flatMap(
    (code) => keeps(failed, "/errorDetails/errorCode", { [`is ${code}`]: code }),
  ),
];

/** A valid subscription. */
export const subscription: ResponseRow = {
  name: "a subscription",
  operation: "subscribeToWebhooks",
  status: 200,
  headers: JSON_TYPE,
  body: { subscriptionKey: "sub_1" },
  allowed: true,
};

const subscriptions: ResponseRow[] = [
  subscription,
  ...closed(subscription, "", ["subscriptionKey"]),
  ...text(subscription, "/subscriptionKey", { max: 64 }),
];

const wrongTypes = [refund, subscription].flatMap((row) =>
  ["text/plain", "text/html", "application/xml", "application/problem+json", undefined].map((type) => ({
    ...row,
    name: `${row.name} as ${type}`,
    headers: type === undefined ? {} : { "Content-Type": type },
    allowed: false,
  })),
);

export const successRows: readonly ResponseRow[] = [...refunds, ...subscriptions, ...wrongTypes];
