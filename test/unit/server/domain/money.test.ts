import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fromCents, toCents } from "../../../../server/domain/money.ts";

/** @decision D13 */
describe("money", () => {
  test.each([
    [0.01, 1],
    [0.29, 29],
    [1.15, 1_15],
    [10, 10_00],
    [19.99, 19_99],
    [4.35, 4_35],
    [1_005.01, 1_005_01],
    [9_999_999_999.99, 9_999_999_999_99],
  ])("turns %d dollars into %i cents and back", (dollars, cents) => {
    expect(toCents(dollars)).toBe(cents);
    expect(fromCents(cents)).toBe(dollars);
  });

  test("is exact for every amount, read as it is written", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 9_999_999_999_99 }), (cents) => {
        const digits = String(cents).padStart(3, "0");
        const written = `${digits.slice(0, -2)}.${digits.slice(-2)}`;
        expect(toCents(JSON.parse(written) as number)).toBe(cents);
        expect(JSON.stringify(fromCents(cents))).toMatch(/^\d+(\.\d{1,2})?$/);
        expect(toCents(fromCents(cents))).toBe(cents);
      }),
    );
  });
});
