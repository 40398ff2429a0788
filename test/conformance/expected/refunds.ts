import { closed, text } from "./message.ts";
import { GONE, type Row, raw, refused, row, rowsAt, rowsWithin } from "./row.ts";
import {
  LONE_SURROGATES,
  literals,
  MISSING,
  NAUGHTY_TEXTS,
  NOT_A_NUMBER,
  NOT_AN_OBJECT,
  NUL_CHARACTERS,
  ODD_CHARACTERS,
} from "./values.ts";

/** The base of every row for refunds; each call has another key. */
export const BASE_REFUND = {
  paymentId: "pay_settled",
  amount: { currency: "USD", value: 1 },
  requestKey: "key",
};

const OP = "issueRefund";
const ISSUED = { expected: { status: 201 } };
/** A well-formed id that no payment has; the mock does not look it up. */
const NOBODYS = { expected: { status: 404, code: "PAYMENT_NOT_FOUND" }, mock: "stores nothing" } as const;
const WORDS_FOR_USD = {
  expected: { status: 400, members: { "/violations/0/message": "must be one of: USD" } },
  check: "amount.currency",
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

/** A body with every member, and its limits. */
const WHOLE = {
  body: {
    ...{ ...BASE_REFUND, paymentId: "pay_nobodys", requestKey: "key of a variant" },
    ...{ clientReferenceId: "a", clientRefefenceId: "a", softDescriptor: "ACME" },
  },
  limits: {
    ...closed({
      paymentId: text(64),
      amount: closed({ currency: { type: "string" }, value: { type: "number" } }),
      requestKey: text(255),
      ...{ clientReferenceId: text(255), clientRefefenceId: text(255) },
      softDescriptor: { type: "string", maxLength: 80, pattern: "^[A-Za-z0-9 ]*$" },
    }),
    required: ["paymentId", "amount", "requestKey"],
  },
};

/** Amounts as written; each is the only error of its body. */
const amountsRefused = (check: string, ...texts: string[]) =>
  refused(OP, "/amount/value", literals(...texts), { check });

const amounts: Row[] = [
  ...refused(OP, "/amount", MISSING),
  ...rowsWithin(OP, WHOLE, /^\/amount$/, { accepted: () => ISSUED }),
  ...refused(OP, "/amount/unit", { "is unknown": "cents" }, { check: "body.unknown-field" }),
  ...rowsAt(OP, "/amount/currency", { "is USD": "USD" }, ISSUED),
  ...refused(OP, "/amount/currency", { ...MISSING, "is null": null, "is a list of it": ["USD"] }),
  ...refused(
    OP,
    "/amount/currency",
    { "is EUR": "EUR", "is usd": "usd", "is USD and a blank": "USD ", "is OTHER": "OTHER", "is empty": "" },
    WORDS_FOR_USD,
  ),
  // Of a payment that failed: nothing is taken from what the other rows refund.
  ...rowsAt(
    OP,
    "/amount/value",
    literals("0.01", "0.1", "1", "10", "10.0", "10.00", "19.99", "9999999999.99"),
    { edits: { "/paymentId": "pay_failed" }, ...ISSUED, check: "amount.accepted" },
  ),
  ...refused(OP, "/amount/value", MISSING),
  ...refused(OP, "/amount/value", NOT_A_NUMBER, { check: "amount.string" }),
  ...amountsRefused("amount.not-positive", "0", "0.00", "-0", "-0.0", "0.001", "-0.01", "-1", "-1.5"),
  ...amountsRefused("amount.too-large", "10000000000", "10000000000.00", "99999999999999.99"),
  ...rowsAt(
    OP,
    "/amount/value",
    literals("1E+1", "1.0E7", "1.999E1", "1999e-2", "9.99999999999E+9", "0.0001e2", "1E0"),
    { edits: { "/paymentId": "pay_failed" }, ...ISSUED, check: "amount.exponent" },
  ),
  ...rowsAt(
    OP,
    "/amount/value",
    literals("131072.01000000001", "0.28999999999999998", "1.1499999999999999", "9999999999.9899998"),
    { edits: { "/paymentId": "pay_failed" }, ...ISSUED, check: "amount.printed-double" },
  ),
  ...amountsRefused("amount.exponent", "1e-3", "1e10", "1e400", "-1e400"),
  ...refused(OP, "/amount/value", literals("1.0000E1", "1000e-3", "1.999e0"), {
    mock: "knows no two decimals",
    check: "amount.exponent",
  }),
  ...refused(
    OP,
    "/amount/value",
    literals(
      ...["10.000", "19.9900", "10.001", "10.005", "10.990000000000000001", "9999999999.985"],
      // Neighbours of printed doubles, one with a digit less, and the double beside 131072.01.
      ...["131072.01000000002", "131072.010000000009", "0.2899999999999999", "131072.00999999999"],
    ),
    { mock: "knows no two decimals", check: "amount.three-decimals" },
  ),
  ...amountsRefused("amount.three-decimals", "9999999999.991", "9999999999.995"),
  ...refused(OP, "/amount/value", literals("NaN", "Infinity", "+1", "01", ".5", "1.", "0x10"), {
    violationAt: "",
    mock: "own words for malformed JSON",
    check: "body.malformed",
  }),
];

const ECHO_CHECKS = {
  "/clientReferenceId": "reference.echo",
  "/clientRefefenceId": "reference.misspelling-accepted",
};

const texts: Row[] = [
  ...rowsWithin(OP, WHOLE, /^\/paymentId/, { accepted: () => NOBODYS }),
  ...rowsAt(OP, "/paymentId", { "is odd": ODD_CHARACTERS }, NOBODYS),
  ...rowsAt(OP, "/paymentId", Object.fromEntries(NAUGHTY_TEXTS.map((text) => [`is ${text}`, text])), {
    ...NOBODYS,
    check: "payment.unknown",
  }),
  ...rowsWithin(OP, WHOLE, /^\/requestKey/, { accepted: () => ISSUED }),
  ...rowsAt(OP, "/requestKey", { "is odd": ODD_CHARACTERS }, ISSUED),
  ...(["/clientReferenceId", "/clientRefefenceId"] as const).flatMap((pointer) => {
    const echoed = (value: unknown) => ({
      expected: { status: 201, members: { "/clientReferenceId": value } },
      check: ECHO_CHECKS[pointer],
    });
    return [
      ...rowsWithin(OP, WHOLE, new RegExp(`^${pointer}`), {
        accepted: echoed,
        refused: { check: "reference.null-refused" },
      }),
      ...rowsAt(OP, pointer, { "is odd": ODD_CHARACTERS }, echoed(ODD_CHARACTERS)),
      ...refused(OP, pointer, NUL_CHARACTERS, { check: "reference.null-refused" }),
    ];
  }),
  ...["/paymentId", "/requestKey"].flatMap((pointer) =>
    refused(OP, pointer, { ...MISSING, ...NUL_CHARACTERS }),
  ),
];

const surrogates = ["/paymentId", "/requestKey", "/clientReferenceId", "/clientRefefenceId"].flatMap(
  (pointer) => refused(OP, pointer, LONE_SURROGATES, { mock: "looks for no surrogates" }),
);

const references: Row[] = [
  row(OP, "both spellings of the reference agree", {
    check: "reference.misspelling-accepted",
    edits: { "/clientReferenceId": "a", "/clientRefefenceId": "a" },
    expected: { status: 201, members: { "/clientReferenceId": "a", "/clientRefefenceId": GONE } },
  }),
  row(OP, "the spellings of the reference differ", {
    check: "reference.conflict",
    edits: { "/clientReferenceId": "a", "/clientRefefenceId": "b" },
    expected: { status: 400, code: "INVALID_REQUEST", pointers: ["/clientRefefenceId"] },
    mock: "compares no members",
  }),
];

const descriptors: Row[] = [
  ...rowsWithin(OP, WHOLE, /^\/softDescriptor/, {
    accepted: () => ({ ...ISSUED, check: "descriptor.accepted" }),
    refused: { check: "descriptor.refused" },
  }),
  ...rowsAt(
    OP,
    "/softDescriptor",
    {
      "is empty": "",
      "has the first and last of each kind": "AMZ amz 059",
      "begins and ends with Z": "Z Z",
      "begins and ends with z": "z z",
      "begins and ends with 9": "9 9",
    },
    { ...ISSUED, check: "descriptor.accepted" },
  ),
];

const objects: Row[] = [
  ...refused(OP, "", NOT_AN_OBJECT, { check: "body.not-an-object" }),
  row(OP, "an empty object gets a violation for each missing field", {
    check: "violation.missing-field",
    edits: { "": {} },
    expected: { status: 400, code: "INVALID_REQUEST", pointers: ["/paymentId", "/amount", "/requestKey"] },
  }),
  row(OP, "a body gets a violation for each thing that is wrong with it", {
    check: "violation.all-at-once",
    text:
      '{"paymentId":1,"amount":{"currency":"EUR","value":1.001,"tip":1},"status":1,' +
      '"clientReferenceId":"a","clientRefefenceId":"b"}',
    expected: {
      status: 400,
      code: "INVALID_REQUEST",
      pointers: [
        "/paymentId",
        "/amount/currency",
        "/amount/value",
        "/amount/tip",
        "/requestKey",
        "/status",
        "/clientRefefenceId",
      ],
    },
  }),
  row(OP, "an empty amount gets a violation for each missing field", {
    check: "violation.missing-field",
    edits: { "/amount": raw("{}") },
    expected: { status: 400, code: "INVALID_REQUEST", pointers: ["/amount/currency", "/amount/value"] },
  }),
];

export const refundRows: readonly Row[] = [
  ...outcomes,
  ...amounts,
  ...texts,
  ...surrogates,
  ...references,
  ...descriptors,
  ...objects,
];
