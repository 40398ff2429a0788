import { describe, expect, test } from "vitest";
import { createLineParser } from "../../../server/operators/parse-json-line.ts";

const parsePaymentLine = createLineParser("PaymentLine", "PutLine");

const payment = { merchant: "acme", paymentId: "pay_1" };
const amount = { currency: "USD", value: 19.99 };
const NO_TIME = "settledAt must be a time with its offset, such as 2026-11-18T15:30:00Z";
const NO_TEXT = "paymentId must not contain U+0000 or a lone surrogate";
const UNKNOWN = "is not a field of this object; remove it";
const MANY = Array.from({ length: 100 }, (_, index) => `field${index}`);
const put = { op: "put", ...payment, amount };
const fail = { op: "fail", ...payment };
const settleAt = (settledAt: unknown) => ({ op: "settle", ...payment, settledAt });
const parse = (line: unknown) =>
  parsePaymentLine(Buffer.from(typeof line === "string" ? line : JSON.stringify(line)));

describe("a line about an original payment", () => {
  test("is read, with names of the greatest length", () => {
    const long = { ...fail, paymentId: "💶".repeat(64) };

    for (const line of [put, { ...put, requestKey: "k" }, settleAt("2026-11-18T10:30:00.125-05:00"), long])
      expect(parse(line)).toEqual(line);
    expect(parse(` ${JSON.stringify(fail)} \r`)).toEqual(fail);
  });

  test.each<[line: unknown, error: string]>([
    ["{", "is not valid JSON"],
    ["null", "is not a JSON object"],
    ["[]", "is not a JSON object"],
    ['\uFEFF{"op":"fail"}', "begins with a byte order mark"],
    ['{"op":"fail","op":"cover"}', "a field occurs twice"],
    ["[".repeat(10_000), "is nested too deeply; at most 32 levels are allowed"],
    [{}, "op is missing"],
    [{ op: "toString" }, "op must be one of: put, settle, fail, cover"],
    [{ op: "fail" }, "merchant is missing; paymentId is missing"],
    ['{"op":"fail","merchant":"a","__proto__":1}', `paymentId is missing; __proto__ ${UNKNOWN}`],
    [{ ...fail, amount }, `amount ${UNKNOWN}`],
    [
      { ...fail, ...Object.fromEntries(MANY.map((name) => [name, 1])) },
      expect.stringMatching(/^field0 .{493}$/),
    ],
    [{ ...put, merchant: 7 }, "merchant must be a string"],
    [{ ...put, paymentId: "p".repeat(65) }, "paymentId must have at most 64 characters"],
    [{ ...put, paymentId: "a\0b" }, NO_TEXT],
    [{ ...put, paymentId: "\ud800" }, NO_TEXT],
    [{ ...fail, ["k".repeat(64)]: "\ud800" }, `${"k".repeat(64)} ${UNKNOWN}`],
    [{ ...put, amount: 10 }, "amount must be an object"],
    [{ ...put, amount: { ...amount, cents: 1 } }, `amount.cents ${UNKNOWN}`],
    [settleAt("2026-11-18T15:30:00"), NO_TIME],
    [settleAt("2026-02-30T00:00:00Z"), "settledAt must be a time, such as 2026-11-25T14:30:00Z"],
    [settleAt("2016-12-31T23:59:60Z"), NO_TIME],
  ])("is refused with the reason (%j)", (line, error) => {
    expect(parse(line)).toEqual({ error });
  });
});
