import {
  amount,
  breaks,
  type DeliveryRow,
  keeps,
  refundErrorDetails,
  returnedReference,
  text,
  withHeader,
} from "./message.ts";
import { GONE } from "./row.ts";
import { MISSING, NOT_A_TEXT, NOT_AN_OBJECT } from "./values.ts";

const AMOUNT = { currency: "USD", value: 1 };
const refund = (paymentStatus: string) => ({ paymentId: "rfd_1", paymentStatus, clientReferenceId: null });
const payment = (status: string) => ({ paymentId: "pay_1", status, amount: AMOUNT });

/** The data of each event, as the decisions list it. */
export const EVENTS: Readonly<Record<string, object>> = {
  "refund.pending": refund("PENDING"),
  "refund.authorized": refund("AUTHORIZED"),
  "refund.terminal_failed": {
    ...refund("TERMINAL_FAILED"),
    errorDetails: { errorCode: "CUSTOMER_NOT_DEBITED", errorMessage: "x" },
  },
  "payment.settled": payment("SETTLED"),
  "payment.failed": payment("FAILED"),
  "payment.covered": payment("COVERED"),
  "account.linked": { accountId: "acc_1" },
  "account.unlinked": { accountId: "acc_1" },
  "customer.created": { customerId: "cus_1" },
};

const HEADERS = {
  "content-type": "application/json",
  "webhook-id": "evt_1",
  "webhook-timestamp": "1764081000",
  "webhook-signature": "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=",
};

const deliveries = Object.entries(EVENTS).map(
  ([event, data]): DeliveryRow => ({
    name: event,
    event,
    headers: HEADERS,
    body: { type: event, timestamp: "2026-11-20T14:30:00.000Z", sequence: 1, data },
    allowed: true,
  }),
);

const payloads = deliveries.flatMap((row) => [
  row,
  ...open(row, "", ["type", "timestamp", "sequence", "data"]),
  ...breaks(row, "/type", {
    "is OTHER": "OTHER",
    "is null": null,
    "is in capitals": row.event.toUpperCase(),
  }),
  ...breaks(row, "/sequence", { "is 0": 0 }),
  ...breaks(row, "/timestamp", { "is a day": "2026-11-20" }),
  ...dataOf(row),
]);

function dataOf(row: DeliveryRow): DeliveryRow[] {
  const data = EVENTS[row.event] ?? {};
  return [
    ...open(row, "/data", Object.keys(data)),
    ...["paymentId", "accountId", "customerId"]
      .filter((name) => name in data)
      .flatMap((name) => text(row, `/data/${name}`, { max: 64 })),
    ...["paymentStatus", "status"]
      .filter((name) => name in data)
      .flatMap((name) =>
        breaks(row, `/data/${name}`, { "is OTHER": "OTHER", "is null": null, "is PROCESSING": "PROCESSING" }),
      ),
    ...("clientReferenceId" in data ? returnedReference(row, "/data/clientReferenceId") : []),
    ...("amount" in data ? amount(row, "/data/amount") : []),
    ...("errorDetails" in data ? refundErrorDetails(row, "/data/errorDetails") : []),
  ];
}

/** An object that later versions may add members to. */
function open(row: DeliveryRow, pointer: string, required: readonly string[]): DeliveryRow[] {
  return [
    ...breaks(row, pointer, NOT_AN_OBJECT),
    ...keeps(row, `${pointer}/later`, { "is unknown": "x" }),
    ...required.flatMap((name) => breaks(row, `${pointer}/${name}`, MISSING)),
  ];
}

/** The members that all events share, tested on one event. */
const [any] = deliveries;
const shared = any
  ? [
      ...keeps(any, "/timestamp", {
        "has no milliseconds": "2026-11-20T14:30:00Z",
        "has an offset": "2026-11-20T09:30:00-05:00",
        "has 30 characters": `2026-11-20T14:30:00.${"0".repeat(9)}Z`,
      }),
      ...breaks(any, "/timestamp", {
        ...NOT_A_TEXT,
        "is empty": "",
        "has no zone": "2026-11-20T14:30:00",
        "is on no day": "2026-02-30T14:30:00Z",
        "has 31 characters": `2026-11-20T14:30:00.${"0".repeat(10)}Z`,
      }),
      ...keeps(any, "/sequence", { "is as large as can be": 2_147_483_647 }),
      ...breaks(any, "/sequence", {
        "is too large": 2_147_483_648,
        "is broken": 1.5,
        "is a text": "1",
        "is null": null,
      }),
    ]
  : [];

const heads = deliveries.flatMap((row) => [
  { ...row, name: `${row.name} without a body`, body: GONE, allowed: false },
  ...["text/plain", "application/xml", "application/problem+json"].map((type) => ({
    ...row,
    name: `${row.name} as ${type}`,
    headers: { ...HEADERS, "content-type": type },
    allowed: false,
  })),
  ...withHeader(row, "webhook-id", { kept: ["x", "x".repeat(100)], broken: [GONE, "", "x".repeat(101)] }),
  ...withHeader(row, "webhook-timestamp", {
    kept: ["0", "99999999999"],
    broken: [GONE, "-1", "100000000000", "1.5", "2026-11-20"],
  }),
  ...withHeader(row, "webhook-signature", {
    kept: ["x", "x".repeat(500)],
    broken: [GONE, "", "x".repeat(501)],
  }),
]);

/** Every delivery against which the document is tested. */
export const deliveryTable: readonly DeliveryRow[] = [...payloads, ...shared, ...heads];

/** The meaning of a subscriber's response, by the entry of the document that describes it. */
export const RECEIPTS: readonly (readonly [status: number, entry: string])[] = [
  [200, "2XX"],
  [204, "2XX"],
  [299, "2XX"],
  [410, "410"],
  [199, "default"],
  [301, "default"],
  [404, "default"],
  [429, "default"],
  [500, "default"],
];
