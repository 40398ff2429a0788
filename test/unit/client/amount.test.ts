import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type AmountInput, toAmount } from "../../../client/src/amount.ts";
import { InvalidAmountError } from "../../../client/src/index.ts";

/** The amount in the request's body, or the error. */
function literalOf(input: unknown): string {
  try {
    // Callers without types can pass anything.
    const json = JSON.stringify(toAmount(input as AmountInput));
    return /^\{"currency":"USD","value":(.*)\}$/.exec(json)?.[1] ?? json;
  } catch (error) {
    if (error instanceof InvalidAmountError) return error.message;
    throw error;
  }
}

describe("an amount", () => {
  test.each<[AmountInput, string]>([
    ["10.00", "10"],
    ["10.0", "10"],
    ["10", "10"],
    ["12.5", "12.5"],
    ["19.99", "19.99"],
    ["0.01", "0.01"],
    ["0.10", "0.1"],
    ["9999999999.99", "9999999999.99"],
    [10, "10"],
    [19.99, "19.99"],
    [0.29, "0.29"],
    [1.15, "1.15"],
    [9999999999.99, "9999999999.99"],
    [19.99 * 3, "59.97"],
    [0.1 + 0.2, "0.3"],
    [4.35 * 100, "435"],
    [{ cents: 1999 }, "19.99"],
    [{ cents: 1 }, "0.01"],
    [{ cents: 999_999_999_999 }, "9999999999.99"],
    [{ currency: "USD", value: 19.99 }, "19.99"],
    [{ currency: "USD", value: "19.99" }, "19.99"],
  ])("of %j is sent as %s", (input, literal) => {
    expect(literalOf(input)).toBe(literal);
  });

  test.each([
    ["10.001", 'give dollars with at most two digits after the point, not "10.001".'],
    ["10.000", 'give dollars with at most two digits after the point, not "10.000".'],
    ["10.", 'give dollars with at most two digits after the point, not "10.".'],
    [".5", 'give dollars with at most two digits after the point, not ".5".'],
    ["1e1", 'give dollars with at most two digits after the point, not "1e1".'],
    ["10,00", 'give dollars with at most two digits after the point, not "10,00".'],
    ["$10", 'give dollars with at most two digits after the point, not "$10".'],
    [" 10", 'give dollars with at most two digits after the point, not " 10".'],
    ["", 'give dollars with at most two digits after the point, not "".'],
    [undefined, "give dollars with at most two digits after the point, not undefined."],
    [null, "give dollars with at most two digits after the point, not null."],
    [Number.NaN, "give dollars with at most two digits after the point, not NaN."],
    [{}, "give dollars with at most two digits after the point, not undefined."],
    [{ cents: 100, value: 2 }, "give cents or a value, not both."],
    [{ cents: 100, currency: "EUR" }, "the currency is USD, not EUR."],
    [10.005, "10.005 has more than two digits after the point."],
    [0.001, "0.001 has more than two digits after the point."],
    [9999999999.991, "9999999999.991 has more than two digits after the point."],
    [{ cents: 19.99 }, "cents are a whole number, not 19.99."],
    [{ cents: "1999" }, "cents are a whole number, not 1999."],
    [0, "it is not more than 0."],
    ["0.00", "it is not more than 0."],
    [-1, "it is not more than 0."],
    ["-1.00", "it is not more than 0."],
    [{ cents: -1 }, "it is not more than 0."],
    ["10000000000", "it is more than 9999999999.99 dollars."],
    ["99999999999999999999999", "it is more than 9999999999.99 dollars."],
    [10_000_000_000, "it is more than 9999999999.99 dollars."],
    [{ cents: 1_000_000_000_000 }, "it is more than 9999999999.99 dollars."],
    [{ currency: "EUR", value: "1.00" }, "the currency is USD, not EUR."],
  ])("of %j is refused before it is sent", (input, why) => {
    expect(literalOf(input)).toBe(`amount: ${why}`);
  });

  test("of any number of cents is sent as these cents, however it is given", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 999_999_999_999 }), (cents) => {
        const text = `${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, "0")}`;
        const literal = text.replace(/\.?0+$/, (zeros) =>
          zeros.startsWith(".") ? "" : zeros.replace(/0+$/, ""),
        );

        for (const input of [{ cents }, text, Number(text)]) {
          expect(literalOf(input)).toMatch(/^\d+(\.\d{1,2})?$/);
          expect(literalOf(input)).toBe(literal);
        }
      }),
      { numRuns: 1_000, seed: 1 },
    );
  });

  test("that is no amount names its field, and says that nothing was sent", () => {
    expect(() => toAmount("10.001")).toThrow(
      expect.objectContaining({
        name: "InvalidAmountError",
        field: "amount",
        attempts: 0,
        outcomeUnknown: false,
      }),
    );
  });
});
