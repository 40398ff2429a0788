import { readFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { createPaymentLineParser } from "../../../../server/admin/payment-line.ts";
import { readContract } from "../../../../server/contract/document.ts";

const parsePaymentLine = createPaymentLineParser(await readContract("payment-lines"));

const payment = { merchant: "acme", paymentId: "pay_1" };
const amount = { currency: "USD", value: 19.99 };
const NO_TIME = "settledAt must be a time with its offset, such as 2026-11-18T15:30:00Z";
const put = { op: "put", ...payment, amount };
const parse = (line: unknown) =>
  parsePaymentLine(Buffer.from(typeof line === "string" ? line : JSON.stringify(line)));
const putWith = (value: string) =>
  `{"op":"put","merchant":"acme","paymentId":"p","amount":{"currency":"USD","value":${value}}}`;

/** @decision D13 D15 D25 */
describe("a line about an original payment", () => {
  test.each([
    [put, { op: "put", ...payment, amountCents: 1999, requestKey: null, clientReferenceId: null }],
    [
      { ...put, requestKey: "k", clientReferenceId: "order" },
      { op: "put", ...payment, amountCents: 1999, requestKey: "k", clientReferenceId: "order" },
    ],
    [
      { op: "settle", ...payment, settledAt: "2026-11-18T10:30:00.125-05:00" },
      { op: "settle", ...payment, settledAt: new Date("2026-11-18T15:30:00.125Z") },
    ],
    [
      { op: "fail", ...payment },
      { op: "fail", ...payment },
    ],
    [
      { op: "cover", ...payment },
      { op: "cover", ...payment },
    ],
    [` ${JSON.stringify({ op: "fail", ...payment })} \r`, { op: "fail", ...payment }],
  ])("is read (%j)", (line, expected) => {
    expect(parse(line)).toEqual(expected);
  });

  test.each([
    ["0.01", 1],
    ["10", 1000],
    ["10.0", 1000],
    ["10.00", 1000],
    ["9999999999.99", 999999999999],
    ["1E+1", 1000],
    ["1.0E7", 1000000000],
    ["1.999E1", 1999],
    ["131072.01000000001", 13107201],
  ])("holds an amount to the cent (%s)", (literal, amountCents) => {
    expect(parse(putWith(literal))).toMatchObject({ amountCents });
  });

  test.each([
    "0",
    "-1",
    "-0",
    "10.000",
    "1.0000E1",
    '"10.00"',
    "10.001",
    "10.990000000000000001",
    "10000000000",
    "null",
    "1e400",
  ])("is refused for the amount %s", (literal) => {
    expect(parse(putWith(literal))).toEqual({ error: expect.stringMatching(/^amount.value must /) });
  });

  test.each<[line: unknown, error: string]>([
    ["", "is not valid JSON"],
    ["{", "is not valid JSON"],
    ["null", "is not a JSON object"],
    ["[]", "is not a JSON object"],
    ['\uFEFF{"op":"fail"}', "begins with a byte order mark"],
    ['{"op":"fail","op":"cover"}', "a field occurs twice"],
    ["[".repeat(10_000), "is nested too deeply; at most 32 levels are allowed"],
    [{}, "op is missing"],
    [{ op: "toString" }, "op must be one of: put, settle, fail, cover"],
    [{ op: "fail" }, "merchant is missing; paymentId is missing"],
    [{ ...put, status: "SETTLED" }, 'has fields that are not known: "status"'],
    [
      '{"op":"fail","merchant":"a","paymentId":"p","__proto__":1}',
      'has fields that are not known: "__proto__"',
    ],
    [{ op: "fail", ...payment, amount }, 'has fields that are not known: "amount"'],
    [
      { ...put, a: 1, b: 1, c: 1, d: 1, e: 1, f: 1 },
      'has fields that are not known: "a", "b", "c", "d", "e"',
    ],
    [{ ...put, merchant: 7 }, "merchant must be a string"],
    [{ ...put, merchant: "" }, "merchant must have 1 to 255 characters"],
    [{ ...put, paymentId: "p".repeat(65) }, "paymentId must have 1 to 64 characters"],
    [{ ...put, paymentId: "a\0b" }, "paymentId must not contain U+0000 or a lone surrogate"],
    [
      `{"op":"fail","merchant":"a","paymentId":"\\ud800"}`,
      "paymentId must not contain U+0000 or a lone surrogate",
    ],
    [
      `{"op":"fail","merchant":"a","paymentId":"p","${"k".repeat(64)}":"\\ud800"}`,
      `has fields that are not known: "${"k".repeat(40)}"`,
    ],
    [{ ...put, requestKey: null }, "requestKey must be a string"],
    [{ ...put, amount: 10 }, "amount must be an object"],
    [{ ...put, amount: { ...amount, cents: 1 } }, 'amount has fields that are not known: "cents"'],
    [{ ...put, amount: { currency: "EUR", value: 1 } }, "amount.currency must be one of: USD"],
    [{ op: "settle", ...payment }, "settledAt is missing"],
    [{ op: "settle", ...payment, settledAt: "2026-11-18" }, NO_TIME],
    [{ op: "settle", ...payment, settledAt: "2026-11-18T15:30:00" }, NO_TIME],
    [{ op: "settle", ...payment, settledAt: "2026-02-30T00:00:00Z" }, NO_TIME],
    [{ op: "settle", ...payment, settledAt: "2026-11-18T15:30:00.1234Z" }, NO_TIME],
    [{ op: "settle", ...payment, settledAt: "2016-12-31T23:59:60Z" }, NO_TIME],
    [{ op: "settle", ...payment, settledAt: 1763479800 }, "settledAt must be a string"],
    [
      { ...put, amount: { currency: "USD" }, status: 1 },
      'amount.value is missing; has fields that are not known: "status"',
    ],
  ])("is refused with the reason (%j)", (line, error) => {
    expect(parse(line)).toEqual({ error });
  });

  test("reads as the guide shows it", async () => {
    const guide = await readFile(new URL("../../../../docs/guides/going-live.md", import.meta.url), "utf8");
    const [, block = ""] = /```json file=payments\.jsonl\n([\s\S]*?)```/.exec(guide) ?? [];
    const lines = block.trimEnd().split("\n");

    expect(lines.map((line) => parse(line))).toEqual(
      ["put", "settle", "fail", "cover"].map((op) => expect.objectContaining({ op, merchant: "acme" })),
    );
  });

  test("is refused when its bytes are no UTF-8", () => {
    expect(parsePaymentLine(Buffer.from([0x7b, 0xff, 0x7d]))).toEqual({ error: "is not UTF-8" });
  });

  test("counts the length of a name in characters, not in units", () => {
    expect(parse({ op: "fail", merchant: "acme", paymentId: "💶".repeat(64) })).toMatchObject({ op: "fail" });
  });
});
