/** Requests for refunds, each with the response that is promised. */
import {
  BODIES,
  casesAt,
  type Differences,
  defineCase,
  invalid,
  LONE_SURROGATES,
  ODD_CHARACTERS,
  type RequestCase,
  raw,
  refused,
} from "./request-case.ts";

const OP = "issueRefund";
const UNKNOWN_PAYMENT = { status: 404, code: "PAYMENT_NOT_FOUND" };

const outcomes: RequestCase[] = [
  defineCase(OP, "a payment settled long ago is refunded at once", {
    expected: {
      status: 201,
      members: { "/paymentStatus": "AUTHORIZED", "/clientReferenceId": null, "/errorDetails": undefined },
    },
  }),
  ...Object.entries({ pay_recent: "settled today", pay_processing: "processing" }).map(([paymentId, what]) =>
    defineCase(OP, `the refund of a payment that is ${what} waits`, {
      edits: { "/paymentId": paymentId },
      expected: { status: 201, members: { "/paymentStatus": "PENDING", "/errorDetails": undefined } },
    }),
  ),
  ...Object.entries({
    pay_failed: "CUSTOMER_NOT_DEBITED",
    pay_covered: "PAYMENT_COVERED",
    pay_small: "AMOUNT_EXCEEDS_REFUNDABLE",
    rfd_given: "PAYMENT_NOT_REFUNDABLE",
  }).map(([paymentId, code]) =>
    defineCase(OP, `an impossible refund fails with ${code}`, {
      edits: { "/paymentId": paymentId },
      expected: {
        status: 201,
        members: { "/paymentStatus": "TERMINAL_FAILED", "/errorDetails/errorCode": code },
      },
    }),
  ),
  defineCase(OP, "a merchant whose refunds are held gets none that would move money at once", {
    token: "held",
    expected: { status: 403, code: "REFUNDS_HELD", headers: { "WWW-Authenticate": /^$/ } },
  }),
  ...Object.entries({ pay_recent: "PENDING", pay_processing: "PENDING", pay_failed: "TERMINAL_FAILED" }).map(
    ([paymentId, status]) =>
      defineCase(OP, `a merchant whose refunds are held still gets one that is ${status}, of ${paymentId}`, {
        token: "held",
        edits: { "/paymentId": paymentId },
        expected: { status: 201, members: { "/paymentStatus": status } },
      }),
  ),
  defineCase(OP, "another merchant's payment is unknown", {
    edits: { "/paymentId": "pay_anothers" },
    expected: UNKNOWN_PAYMENT,
  }),
  ...Object.entries({ "key-of-payment": "pay_small", "key-of-refund": "rfd_given" }).map(
    ([requestKey, existing]) =>
      defineCase(OP, `the key of ${existing} is used`, {
        edits: { "/requestKey": requestKey },
        expected: {
          status: 409,
          code: "DUPLICATE_REQUEST_KEY",
          members: { "/existing/paymentId": existing },
        },
      }),
  ),
];

const literals = (texts: readonly string[]) =>
  Object.fromEntries(texts.map((text) => [`is written ${text}`, raw(text)]));

/** For a payment that failed, so that the payment of the other cases keeps its money. */
const amountsTaken = (check: string, ...texts: string[]) =>
  casesAt(OP, "/amount/value", literals(texts), { edits: { "/paymentId": "pay_failed" }, check });
const amountsRefused = (check: string, ...texts: string[]) =>
  refused(OP, "/amount/value", literals(texts), { check });

/** What counts is the text of a number, which validators of JSON don't see. */
const amounts: RequestCase[] = [
  ...amountsTaken("amount.accepted", "0.01", "0.1", "1", "10", "10.0", "10.00", "19.99", "9999999999.99"),
  ...amountsTaken(
    "amount.exponent",
    ...["1E+1", "1.0E7", "1.999E1", "1999e-2", "9.99999999999E+9", "0.0001e2", "1E0"],
  ),
  ...amountsTaken(
    "amount.printed-double",
    ...["131072.01000000001", "0.28999999999999998", "1.1499999999999999", "9999999999.9899998"],
  ),
  ...amountsRefused("amount.exponent", "1e-3", "1e10", "1e400", "-1e400", "1.0000E1", "1000e-3", "1.999e0"),
  ...amountsRefused(
    "amount.three-decimals",
    ...["10.000", "19.9900", "10.001", "10.005", "10.990000000000000001", "0.001", "-0.0"],
    ...["9999999999.985", "9999999999.991", "9999999999.995"],
    // Neighbours of printed doubles, one with a digit less, and the double beside 131072.01.
    ...["131072.01000000002", "131072.010000000009", "0.2899999999999999", "131072.00999999999"],
  ),
  ...refused(OP, "/amount/value", literals(["NaN", "Infinity", "+1", "01", ".5", "1.", "0x10"]), {
    violationAt: "",
    check: "body.malformed",
  }),
];

/** Ids that careless programs execute, print or look up in a special way. */
const NAUGHTY_IDS = [
  ...["../../etc/passwd", "' or 1=1; drop table payments --", "😀", "%s%n", "#{7*7}"],
  ...["pay_settled ", "PAY_SETTLED", ODD_CHARACTERS],
];

const texts: RequestCase[] = [
  ...casesAt(
    OP,
    "/paymentId",
    Object.fromEntries(NAUGHTY_IDS.map((id) => [`is ${JSON.stringify(id)}`, id])),
    {
      expected: UNKNOWN_PAYMENT,
      check: "payment.unknown",
    },
  ),
  ...casesAt(OP, "/requestKey", { "is odd": ODD_CHARACTERS }),
  ...Object.entries({
    clientReferenceId: "reference.echo",
    clientRefefenceId: "reference.misspelling-accepted",
  }).flatMap(([name, check]) =>
    Object.entries({
      empty: "",
      "one character": "a",
      "255 characters": "é😀a".repeat(85),
      odd: ODD_CHARACTERS,
    }).map(([label, text]) =>
      defineCase(OP, `${name} is ${label}`, {
        check,
        edits: { [`/${name}`]: text },
        expected: { status: 201, members: { "/clientReferenceId": text, "/clientRefefenceId": undefined } },
      }),
    ),
  ),
  defineCase(OP, "both spellings of the reference agree", {
    check: "reference.misspelling-accepted",
    edits: { "/clientReferenceId": "a", "/clientRefefenceId": "a" },
    expected: { status: 201, members: { "/clientReferenceId": "a", "/clientRefefenceId": undefined } },
  }),
  ...Object.entries({ clientReferenceId: "clientRefefenceId", clientRefefenceId: "clientReferenceId" }).map(
    ([name, other]) =>
      defineCase(OP, `an empty ${name} counts as not sent beside the other spelling`, {
        check: "reference.misspelling-accepted",
        edits: { [`/${name}`]: "", [`/${other}`]: "a" },
        expected: { status: 201, members: { "/clientReferenceId": "a" } },
      }),
  ),
  defineCase(OP, "the spellings of the reference differ", {
    check: "reference.conflict",
    edits: { "/clientReferenceId": "a", "/clientRefefenceId": "b" },
    expected: invalid("/clientRefefenceId"),
  }),
  ...["/paymentId", "/requestKey", "/clientReferenceId", "/clientRefefenceId"].flatMap((pointer) =>
    refused(OP, pointer, LONE_SURROGATES),
  ),
];

const TEXT = JSON.stringify({ ...BODIES[OP], requestKey: "key-of-text" });

/** A body in which a part of the text is replaced, and where its violations are. */
function edited(
  name: string,
  [from, to]: readonly [string, string],
  pointers: readonly string[],
  more: Differences = {},
): RequestCase {
  return defineCase(OP, `a body with ${name}`, {
    text: TEXT.replace(from, to),
    expected: invalid(...pointers),
    ...more,
  });
}

const begin = (members: string) => ["{", `{${members},`] as const;
const twice = { check: "body.duplicate-keys" };

const violations: RequestCase[] = [
  defineCase(OP, "a body gets a violation for each thing that is wrong with it", {
    check: "violation.all-at-once",
    text:
      '{"paymentId":1,"amount":{"currency":"EUR","value":1.001,"tip":1},"status":1,' +
      '"clientReferenceId":"a","clientRefefenceId":"b"}',
    expected: invalid(
      ...["/paymentId", "/amount/currency", "/amount/value", "/amount/tip", "/requestKey", "/status"],
      "/clientRefefenceId",
    ),
  }),
  edited(
    "names that pointers escape",
    begin('"a/b":1,"a~b":1,"":1,"/amount/x":1'),
    ["/a~1b", "/a~0b", "/", "/~1amount~1x"],
    { check: "violation.escaped" },
  ),
  edited("constructor", begin('"constructor":{"prototype":{}}'), ["/constructor"]),
  edited("__proto__", begin('"__proto__":{"paymentId":"x"}'), ["/__proto__"]),
  edited(
    "__proto__ deeper down",
    ['"currency"', '"__proto__":{"currency":"USD"},"x"'],
    ["/amount/__proto__", "/amount/x", "/amount/currency"],
  ),
  edited("a name too long to repeat", begin(`"${"n".repeat(2000)}":1`), [""]),
  edited("a name of slashes", ['"currency"', `"${"/".repeat(60_000)}":1,"currency"`], ["/amount"]),
  edited("a key twice in a list", begin('"x":[0,{"a/b":1,"a/b":2}]'), ["/x/1/a~1b"]),
  edited("a key twice, once with escapes", begin('"request\\u004bey":"a"'), ["/requestKey"], twice),
  edited("a key twice deeper down", ['"value"', '"value":0.01,"value"'], ["/amount/value"], twice),
];

export const refundCases: readonly RequestCase[] = [...outcomes, ...amounts, ...texts, ...violations];
