import { BASE_REFUND } from "./refunds.ts";
import { type Differences, type Row, refused, row } from "./row.ts";

const OP = "issueRefund";
/** A valid body as text, for differences that exist only in the text. */
const TEXT = JSON.stringify({ ...BASE_REFUND, requestKey: "key-of-text" });

/** A body in which a part of the text is replaced, and where its violations are. */
function edited(
  name: string,
  [from, to]: readonly [string, string],
  pointers: readonly string[],
  more: Partial<Differences> = {},
): Row {
  const expected = { status: 400, code: "INVALID_REQUEST", pointers };
  return row(OP, `a body with ${name}`, { text: TEXT.replace(from, to), expected, ...more });
}

const begin = (members: string) => ["{", `{${members},`] as const;
const twice = { mock: "knows no raw text", check: "body.duplicate-keys" } as const;

/** Unknown fields, and repeated fields, which only the text of a body shows. */
export const refundTextRows: readonly Row[] = [
  ...refused(OP, "/status", { "is unknown": "PENDING" }, { check: "body.unknown-field" }),
  ...refused(OP, "/PaymentId", { "is unknown": "pay_settled" }, { check: "body.unknown-field" }),
  edited("several unknown fields", begin('"status":1,"merchantId":2'), ["/status", "/merchantId"]),
  edited("constructor", begin('"constructor":{"prototype":{}}'), ["/constructor"]),
  edited("__proto__", begin('"__proto__":{"paymentId":"x"}'), ["/__proto__"]),
  edited(
    "names that pointers escape",
    begin('"a/b":1,"a~b":1,"":1,"/amount/x":1'),
    ["/a~1b", "/a~0b", "/", "/~1amount~1x"],
    { check: "violation.escaped" },
  ),
  edited("a name too long to repeat", begin(`"${"n".repeat(2000)}":1`), [""]),
  edited("a key twice in a list", begin('"x":[0,{"a/b":1,"a/b":2}]'), ["/x/1/a~1b"]),
  edited("a key twice, once with escapes", begin('"request\\u004bey":"a"'), ["/requestKey"], twice),
  edited("a key twice deeper down", ['"value"', '"value":0.01,"value"'], ["/amount/value"], twice),
  edited(
    "__proto__ deeper down",
    ['"currency"', '"__proto__":{"currency":"USD"},"x"'],
    ["/amount/__proto__", "/amount/x", "/amount/currency"],
  ),
  edited("a name of slashes", ['"currency"', `"${"/".repeat(60_000)}":1,"currency"`], ["/amount"]),
];
