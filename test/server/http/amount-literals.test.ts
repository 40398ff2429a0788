import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Duplicate, InvalidRequest } from "../../helpers/factories.ts";
import { post, useTestServer } from "../../helpers/server.ts";

/** The largest amount, in cents. */
const LARGEST = 999999999999n;

/** How a decimal is written: the number of digits after the point, and the form of the exponent. */
type Style = { readonly after: number; readonly mark: string; readonly zeros: number };

const styles: fc.Arbitrary<Style> = fc.record({
  after: fc.nat(20),
  mark: fc.constantFrom("e", "E", "e+", "E+"),
  zeros: fc.nat(3),
});

/** A number as a JSON literal: `coefficient` times ten to the `power`, with a point and an exponent somewhere. */
function write(coefficient: bigint, power: number, { after, mark, zeros }: Style): string {
  const digits = String(coefficient).padStart(after + 1, "0");
  const mantissa = after === 0 ? digits : `${digits.slice(0, -after)}.${digits.slice(-after)}`;
  const exponent = power + after;
  const size = "0".repeat(zeros) + Math.abs(exponent);
  if (exponent === 0) return mantissa;
  return exponent < 0 ? `${mantissa}${mark[0]}-${size}` : `${mantissa}${mark}${size}`;
}

function bodyOf(literal: string): string {
  // The debit of this payment failed, so its refunds don't reduce each other's limit.
  return `{"paymentId":"pay_failed","amount":{"currency":"USD","value":${literal}},"requestKey":"${randomUUID()}"}`;
}

describe("an amount, in any form that JSON has for a number,", () => {
  const server = useTestServer();

  test("is stored exactly when it has at most two digits after the point", async () => {
    const amounts = fc.tuple(fc.bigInt({ min: 1n, max: LARGEST }), styles);
    const property = fc.asyncProperty(amounts, async ([cents, style]) => {
      const body = bodyOf(write(cents, -2, style));
      const issued = await post(server.url, "/v1/refunds", body);
      const duplicate = await post<Duplicate>(server.url, "/v1/refunds", body);

      expect([body, issued.status, duplicate.status]).toEqual([body, 201, 409]);
      const plain = `${cents / 100n}.${String(cents % 100n).padStart(2, "0")}`;
      expect(duplicate.body.existing.amount?.value.toFixed(2)).toBe(plain);
    });
    await fc.assert(property, { numRuns: 150, examples: [[[LARGEST, { after: 2, mark: "e", zeros: 0 }]]] });
  });

  test("is refused with a pointer when it has more digits after the point, even zeros", async () => {
    const coefficients = fc.bigInt({ min: 1n, max: LARGEST * 10n ** 20n });
    const finer = fc.tuple(coefficients, fc.integer({ min: -22, max: -3 }), styles);
    const property = fc.asyncProperty(finer, async (written) => {
      const body = bodyOf(write(...written));
      const refused = await post<InvalidRequest>(server.url, "/v1/refunds", body);

      expect([body, refused.status]).toEqual([body, 400]);
      expect(refused.body.violations.map(({ pointer }) => pointer)).toEqual(["/amount/value"]);
    });
    await fc.assert(property, { numRuns: 150 });
  });
});
