import type { Node } from "../../../openapi/document/node.ts";
import {
  AMOUNT,
  type DeliveryRow,
  keeps,
  open,
  REFUND_ERROR,
  RETURNED_REFERENCE,
  text,
  withHeader,
  within,
} from "./message.ts";
import { GONE } from "./row.ts";

const one = (value: string): Node => ({ type: "string", enum: [value] });
// Statuses are open for readers.
const refund = (more = {}) =>
  open({
    ...{ paymentId: text(64), paymentStatus: text(64), clientReferenceId: RETURNED_REFERENCE },
    ...{ originalPaymentId: text(64), amount: AMOUNT, requestKey: text(255), ...more },
  });
const payment = open({ paymentId: text(64), status: text(64), amount: AMOUNT });

/** The limits of the data of each event, as the decisions list it. */
const DATA: Readonly<Record<string, Node>> = {
  "refund.pending": refund(),
  "refund.authorized": refund(),
  "refund.terminal_failed": refund({ errorDetails: REFUND_ERROR }),
  "payment.settled": payment,
  "payment.failed": payment,
  "payment.covered": payment,
  "account.linked": open({ accountId: text(64) }),
  "account.unlinked": open({ accountId: text(64) }),
  "customer.created": open({ customerId: text(64) }),
};

/** Members of data, by name. */
const VALUES: Readonly<Record<string, unknown>> = {
  ...{ paymentId: "rfd_1", accountId: "acc_1", customerId: "cus_1", clientReferenceId: null },
  ...{ originalPaymentId: "pay_1", requestKey: "key", paymentStatus: "LATER", status: "LATER" },
  amount: { currency: "USD", value: 1 },
  errorDetails: { errorCode: "CUSTOMER_NOT_DEBITED", errorMessage: "x" },
};

const HEADERS = {
  "content-type": "application/json",
  "webhook-id": "evt_1",
  "webhook-timestamp": "1764081000",
  "webhook-signature": "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=",
};

const TRACEPARENT = "00-4bf92f3577b34da6a3ce929d0e0e473a-00f067aa0ba902b7-0f";

const deliveries = Object.entries(DATA).map(([event, { properties }]): DeliveryRow => {
  const data = Object.fromEntries(Object.keys(properties as Node).map((name) => [name, VALUES[name]]));
  return {
    ...{ name: event, event, headers: HEADERS, allowed: true },
    body: { type: event, timestamp: "2026-11-20T14:30:00.000Z", sequence: 1, data },
  };
});

const payloads = deliveries.flatMap((row) => [
  row,
  ...within(
    row,
    open({
      type: one(row.event),
      timestamp: { type: "string", format: "date-time" },
      sequence: { type: "integer", minimum: 1, maximum: 2_147_483_647 },
      data: DATA[row.event] ?? {},
    }),
  ),
  ...keeps(row, "/timestamp", { "has nine decimals": `2026-11-20T14:30:00.${"0".repeat(9)}Z` }),
]);

const heads = deliveries.flatMap((row) => [
  { ...row, name: `${row.name} without a body`, body: GONE, allowed: false },
  ...withHeader(row, "content-type", {
    kept: [],
    broken: ["text/plain", "application/xml", "application/problem+json"],
  }),
  ...withHeader(row, "webhook-id", { kept: ["x", "x".repeat(100)], broken: [GONE, "", "x".repeat(101)] }),
  ...withHeader(row, "webhook-timestamp", {
    kept: ["0", "99999999999"],
    broken: [GONE, "-1", "100000000000", "1.5", "2026-11-20"],
  }),
  ...withHeader(row, "webhook-signature", {
    kept: ["x", "x".repeat(500)],
    broken: [GONE, "", "x".repeat(501)],
  }),
  ...(row.event.startsWith("refund.")
    ? [
        ...withHeader(row, "traceparent", {
          kept: [TRACEPARENT],
          broken: [
            ...["", `${TRACEPARENT}0`, `0${TRACEPARENT}`, TRACEPARENT.slice(1), TRACEPARENT.slice(0, -1)],
            ...[
              TRACEPARENT.toUpperCase(),
              TRACEPARENT.replace("00-", "01-"),
              TRACEPARENT.replaceAll("-", "_"),
            ],
          ],
        }),
        ...withHeader(row, "tracestate", { kept: ["x", "x".repeat(512)], broken: ["", "x".repeat(513)] }),
      ]
    : []),
]);

/** Every delivery against which the document is tested. */
export const deliveryTable: readonly DeliveryRow[] = [...payloads, ...heads];

/** The meaning of a subscriber's response, by the entry of the document that describes it. */
export const RECEIPTS: readonly (readonly [status: number, entry: string])[] = [
  ...[200, 204, 299].map((status) => [status, "2XX"] as const),
  [410, "410"],
  ...[199, 301, 404, 429, 500].map((status) => [status, "default"] as const),
];
