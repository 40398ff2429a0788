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
  // Those that are written in one way only; the property below has all amounts.
  test.each<[AmountInput, string]>([
    ["10.0", "10"],
    ["10", "10"],
    ["12.5", "12.5"],
    [19.99 * 3, "59.97"],
    [0.1 + 0.2, "0.3"],
    [4.35 * 100, "435"],
    [{ currency: "USD", value: 19.99 }, "19.99"],
    [{ currency: "USD", value: "19.99" }, "19.99"],
  ])("of %j is sent as %s", (input, literal) => {
    expect(literalOf(input)).toBe(literal);
  });

  test.each(["10.001", "10.000", "10.", ".5", "1e1", "10,00", "$10", " 10", "", undefined, null, Number.NaN])(
    "of %j is refused before it is sent",
    (input) => {
      const given = typeof input === "string" ? `"${input}"` : input;
      const message = `amount: give dollars with at most two digits after the point, not ${given}.`;

      expect([literalOf(input), literalOf({ value: input })]).toEqual([message, message]);
    },
  );

  test.each([
    [{ cents: 100, value: 2 }, "give cents or a value, not both."],
    [{ cents: 100, currency: "EUR" }, "the currency is USD, not EUR."],
    [10.005, "10.005 has more than two digits after the point."],
    [{ cents: 19.99 }, "cents are a whole number, not the number 19.99."],
    [{ cents: "1999" }, "cents are a whole number, not the string 1999."],
    [{ cents: 1999n }, "cents are a whole number, not the bigint 1999."],
    [0, "it is not more than 0."],
    [{ cents: -1 }, "it is not more than 0."],
    ["-1.00", "it is not more than 0."],
    [{ cents: 1_000_000_000_000 }, "it is more than 9999999999.99."],
  ])("of %o is refused with the reason", (input, why) => {
    expect(literalOf(input)).toBe(`amount: ${why}`);
  });

  test("of any number of cents is sent exactly, in whichever form it is given", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 999_999_999_999 }), (cents) => {
        const text = `${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, "0")}`;
        const literal = text.replace(/\.?0+$/, (zeros) =>
          zeros.startsWith(".") ? "" : zeros.replace(/0+$/, ""),
        );

        for (const input of [{ cents }, text, Number(text)]) {
          expect(literalOf(input)).toBe(literal);
        }
      }),
      { numRuns: 1_000, seed: 1 },
    );
  });
});

test.each([{ s: 1, e: 1, c: [19] }, { amount: 1, currency: "USD" }, [], { value: { digits: "19.99" } }])(
  "an amount that is an object says how to pass it on, as %j",
  (amount) => {
    expect(literalOf(amount)).toMatch(/not an object: pass its text, such as amount\.toFixed\(2\)/);
  },
);
