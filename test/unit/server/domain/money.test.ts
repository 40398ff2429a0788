import fc from "fast-check";
import { expect, test } from "vitest";
import { fromCents, toCents } from "../../../../server/domain/money.ts";

test("money is exact for every amount, read as it is written", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 9_999_999_999_99 }), (cents) => {
      const digits = String(cents).padStart(3, "0");
      const written = `${digits.slice(0, -2)}.${digits.slice(-2)}`;
      expect(toCents(JSON.parse(written))).toBe(cents);
      expect(JSON.stringify(fromCents(cents))).toMatch(/^\d+(\.\d{1,2})?$/);
      expect(toCents(fromCents(cents))).toBe(cents);
    }),
    { examples: [[1], [29], [1_15], [4_35], [19_99], [1_005_01], [9_999_999_999_99]] },
  );
});
