import { BASE_REFUND } from "./refunds.ts";
import { type Row, refused, row } from "./row.ts";

const OP = "issueRefund";
/** A valid body as text, for differences that exist only in the text. */
const TEXT = JSON.stringify({ ...BASE_REFUND, requestKey: "key-of-text" });

/** Unknown fields, and repeated fields, which only the text of a body shows. */
export const refundTextRows: readonly Row[] = [
  ...refused(OP, "/status", { "is unknown": "PENDING" }, { check: "body.unknown-field" }),
  ...refused(OP, "/PaymentId", { "is unknown": "pay_settled" }, { check: "body.unknown-field" }),
  ...Object.entries({
    "several unknown fields": { fields: '"status":1,"merchantId":2', pointers: ["/status", "/merchantId"] },
    constructor: { fields: '"constructor":{"prototype":{}}', pointers: ["/constructor"] },
    // In brackets, the name is a member; without them it would set the prototype of the table.
    ["__proto__"]: { fields: '"__proto__":{"paymentId":"x"}', pointers: ["/__proto__"] },
    "names that pointers escape": {
      fields: '"a/b":1,"a~b":1,"":1,"/amount/x":1',
      pointers: ["/a~1b", "/a~0b", "/", "/~1amount~1x"],
      check: "violation.escaped",
    },
    "a name too long to repeat": { fields: `"${"n".repeat(2000)}":1`, pointers: [""] },
    "a key twice in a list": { fields: '"x":[0,{"a/b":1,"a/b":2}]', pointers: ["/x/1/a~1b"] },
  }).map(([name, { fields, pointers, ...more }]) =>
    row(OP, `a body with ${name}`, {
      text: TEXT.replace("{", `{${fields},`),
      expected: { status: 400, code: "INVALID_REQUEST", pointers },
      ...more,
    }),
  ),
  ...Object.entries({
    "a key twice, once with escapes": ["{", '{"request\\u004bey":"a",', "/requestKey"],
    "a key twice deeper down": ['"value"', '"value":0.01,"value"', "/amount/value"],
  }).map(([name, [from = "", to = "", pointer = ""]]) =>
    row(OP, `a body with ${name}`, {
      text: TEXT.replace(from, to),
      expected: { status: 400, code: "INVALID_REQUEST", pointers: [pointer] },
      mock: "knows no raw text",
      check: "body.duplicate-keys",
    }),
  ),
  ...Object.entries({
    "__proto__ deeper down": [
      '"currency"',
      '"__proto__":{"currency":"USD"},"x"',
      ["/amount/__proto__", "/amount/x", "/amount/currency"],
    ],
    "a name of slashes": ['"currency"', `"${"/".repeat(60_000)}":1,"currency"`, ["/amount"]],
  } as const).map(([name, [from, to, pointers]]) =>
    row(OP, `a body with ${name}`, {
      text: TEXT.replace(from, to),
      expected: { status: 400, code: "INVALID_REQUEST", pointers },
    }),
  ),
];
