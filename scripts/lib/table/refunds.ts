import { GONE, type Row, raw, refused, row, rowsAt } from "./row.ts";
import {
  FORBIDDEN_CHARACTERS,
  literals,
  MISSING,
  NOT_A_NUMBER,
  NOT_A_TEXT,
  NOT_AN_OBJECT,
  ODD_CHARACTERS,
  ofLength,
} from "./values.ts";

/** What every row of refunds differs from; the key is another one in each call. */
export const BASE_REFUND = {
  paymentId: "pay_settled",
  amount: { currency: "USD", value: 1 },
  requestKey: "key",
};

const OP = "issueRefund";
const ISSUED = { expected: { status: 201 } };
/** Well formed, and nobody's payment; the mock does not look. */
const NOBODYS = { expected: { status: 404, code: "NOT_FOUND" }, mock: "stores nothing" } as const;
const WORDS_FOR_USD = {
  expected: { status: 400, members: { "/violations/0/message": "must be one of: USD" } },
};

const outcomes: Row[] = [
  row(OP, "a payment settled long ago is refunded at once", {
    expected: {
      status: 201,
      members: { "/paymentStatus": "AUTHORIZED", "/clientReferenceId": null, "/errorDetails": GONE },
    },
  }),
  ...Object.entries({ pay_recent: "settled today", pay_processing: "processing" }).map(([paymentId, what]) =>
    row(OP, `the refund of a payment that is ${what} waits`, {
      edits: { "/paymentId": paymentId },
      expected: { status: 201, members: { "/paymentStatus": "PENDING", "/errorDetails": GONE } },
    }),
  ),
  ...Object.entries({
    pay_failed: "CUSTOMER_NOT_DEBITED",
    pay_covered: "PAYMENT_COVERED",
    pay_small: "AMOUNT_EXCEEDS_REFUNDABLE",
    rfd_given: "PAYMENT_NOT_REFUNDABLE",
  }).map(([paymentId, code]) =>
    row(OP, `a refund that can't be is ${code}`, {
      edits: { "/paymentId": paymentId },
      expected: {
        status: 201,
        members: { "/paymentStatus": "TERMINAL_FAILED", "/errorDetails/errorCode": code },
      },
    }),
  ),
  row(OP, "another merchant's payment is as unknown as nobody's", {
    edits: { "/paymentId": "pay_anothers" },
    ...NOBODYS,
  }),
  ...Object.entries({ "key-of-payment": "pay_small", "key-of-refund": "rfd_given" }).map(
    ([requestKey, existing]) =>
      row(OP, `the key of ${existing} is used up`, {
        edits: { "/requestKey": requestKey },
        expected: {
          status: 409,
          code: "DUPLICATE_REQUEST_KEY",
          members: { "/existing/paymentId": existing },
        },
        mock: "stores nothing",
      }),
  ),
];

const amounts: Row[] = [
  ...refused(OP, "/amount", { ...MISSING, ...NOT_AN_OBJECT }),
  ...refused(OP, "/amount/unit", { "is unknown": "cents" }),
  ...rowsAt(OP, "/amount/currency", { "is USD": "USD" }, ISSUED),
  ...refused(OP, "/amount/currency", { ...MISSING, ...NOT_A_TEXT }),
  ...refused(
    OP,
    "/amount/currency",
    { "is EUR": "EUR", "is usd": "usd", "is OTHER": "OTHER", "is empty": "" },
    WORDS_FOR_USD,
  ),
  // Of a payment that failed: nothing is taken from what the other rows refund.
  ...rowsAt(OP, "/amount/value", literals("0.01", "0.1", "1", "10.0", "10.00", "19.99", "9999999999.99"), {
    edits: { "/paymentId": "pay_failed" },
    ...ISSUED,
  }),
  ...refused(OP, "/amount/value", { ...MISSING, ...NOT_A_NUMBER }),
  ...refused(
    OP,
    "/amount/value",
    literals("0", "0.00", "-0", "-0.01", "-1", "10000000000", "10000000000.00", "1e400"),
  ),
  ...refused(
    OP,
    "/amount/value",
    literals("10.000", "10.001", "0.001", "10.990000000000000001", "1e1", "1E+1", "1.0e0", "0.1e1"),
    { mock: "knows no two decimals" },
  ),
];

const texts: Row[] = [
  ...rowsAt(OP, "/paymentId", { "has one letter": "x", ...ofLength(64), "is odd": ODD_CHARACTERS }, NOBODYS),
  ...rowsAt(OP, "/requestKey", { "has one letter": "x", ...ofLength(255), "is odd": ODD_CHARACTERS }, ISSUED),
  ...["/clientReferenceId", "/clientRefefenceId"].flatMap((pointer) => [
    ...[["has one letter", "x"], ...Object.entries(ofLength(255)), ["is odd", ODD_CHARACTERS]].map(
      ([label, text]) =>
        row(OP, `${pointer} ${label}`, {
          edits: { [pointer]: text },
          expected: { status: 201, members: { "/clientReferenceId": text } },
        }),
    ),
    ...refused(OP, pointer, { "is empty": "", ...ofLength(256), ...NOT_A_TEXT, ...FORBIDDEN_CHARACTERS }),
  ]),
  ...refused(OP, "/paymentId", {
    ...MISSING,
    "is empty": "",
    ...ofLength(65),
    ...NOT_A_TEXT,
    ...FORBIDDEN_CHARACTERS,
  }),
  ...refused(OP, "/requestKey", {
    ...MISSING,
    "is empty": "",
    ...ofLength(256),
    ...NOT_A_TEXT,
    ...FORBIDDEN_CHARACTERS,
  }),
];

const references: Row[] = [
  row(OP, "both spellings of the reference agree", {
    edits: { "/clientReferenceId": "a", "/clientRefefenceId": "a" },
    expected: { status: 201, members: { "/clientReferenceId": "a", "/clientRefefenceId": GONE } },
  }),
  row(OP, "the spellings of the reference differ", {
    edits: { "/clientReferenceId": "a", "/clientRefefenceId": "b" },
    expected: { status: 400, code: "INVALID_REQUEST", pointers: ["/clientRefefenceId"] },
    mock: "compares no members",
  }),
];

const descriptors: Row[] = [
  ...rowsAt(
    OP,
    "/softDescriptor",
    {
      "is empty": "",
      "is a space": " ",
      "has the first and last of each kind": "AMZ amz 059",
      "begins and ends with Z": "Z Z",
      "begins and ends with z": "z z",
      "begins and ends with 9": "9 9",
      "has 80 letters": "x".repeat(80),
    },
    ISSUED,
  ),
  ...refused(OP, "/softDescriptor", { ...NOT_A_TEXT, "has 81 letters": "x".repeat(81) }),
  ...refused(
    OP,
    "/softDescriptor",
    Object.fromEntries(
      [..."/:@[`{-_.,!\t\n\r\u00A0é\u0663\uFF21😀"].flatMap((character) => {
        const name = JSON.stringify(character);
        return [
          [`begins with ${name}`, `${character}ACME`],
          [`ends with ${name}`, `ACME${character}`],
        ];
      }),
    ),
  ),
];

const objects: Row[] = [
  ...refused(OP, "", { ...NOT_AN_OBJECT }),
  ...refused(OP, "/status", { "is unknown": "PENDING" }),
  ...refused(OP, "/PaymentId", { "is unknown": "pay_settled" }),
  row(OP, "an empty object is told of all that is missing", {
    edits: { "": {} },
    expected: { status: 400, code: "INVALID_REQUEST", pointers: ["/paymentId", "/amount", "/requestKey"] },
  }),
  row(OP, "an empty amount is told of all that is missing", {
    edits: { "/amount": raw("{}") },
    expected: { status: 400, code: "INVALID_REQUEST", pointers: ["/amount/currency", "/amount/value"] },
  }),
];

export const refundRows: readonly Row[] = [
  ...outcomes,
  ...amounts,
  ...texts,
  ...references,
  ...descriptors,
  ...objects,
];
