import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Duplicate, InvalidRequest } from "../../helpers/factories.ts";
import { post, useTestServer } from "../../helpers/server.ts";

/** The largest amount, in cents. */
const LARGEST = 999999999999n;

/** A decimal as a JSON literal: `coefficient` times ten to the `power`, written with a point and an exponent somewhere. */
type Written = { readonly coefficient: bigint; readonly power: number; readonly literal: string };

/** The number of digits after the point of the literal, and the form of its exponent; 0 leaves the exponent out. */
type Style = {
  readonly after: number;
  readonly mark: "e" | "E";
  readonly plus: boolean;
  readonly zeros: number;
};

const styles: fc.Arbitrary<Style> = fc.record({
  after: fc.nat(20),
  mark: fc.constantFrom("e", "E"),
  plus: fc.boolean(),
  zeros: fc.nat(3),
});

function write(coefficient: bigint, power: number, { after, mark, plus, zeros }: Style): Written {
  const digits = String(coefficient).padStart(after + 1, "0");
  const mantissa = after === 0 ? digits : `${digits.slice(0, -after)}.${digits.slice(-after)}`;
  const exponent = power + after;
  const size = "0".repeat(zeros) + Math.abs(exponent);
  const sign = exponent < 0 ? "-" : plus ? "+" : "";
  return { coefficient, power, literal: exponent === 0 ? mantissa : `${mantissa}${mark}${sign}${size}` };
}

/** Amounts with at most two decimals; trailing zeros of whole ones may be part of the exponent. */
const amounts = fc
  .tuple(fc.bigInt({ min: 1n, max: LARGEST }), fc.nat(14), styles)
  .map(([cents, fewer, style]) => {
    let [coefficient, power] = [cents, -2];
    for (let step = 0; step < fewer && coefficient % 10n === 0n; step += 1) {
      coefficient /= 10n;
      power += 1;
    }
    return write(coefficient, power, style);
  });

/** More than two decimals, even if they are zeros; or a size that no amount has. */
const noAmounts = fc.oneof(
  fc
    .tuple(fc.bigInt({ min: 1n, max: LARGEST * 10n ** 20n }), fc.integer({ min: -22, max: -3 }), styles)
    .map(([coefficient, power, style]) => write(coefficient, power, style)),
  fc
    .tuple(
      fc.bigInt({ min: LARGEST + 1n, max: LARGEST * 10n ** 9n }),
      fc.integer({ min: -2, max: 400 }),
      styles,
    )
    .map(([coefficient, power, style]) => write(coefficient, power, style)),
  fc.tuple(fc.bigInt({ min: 0n, max: LARGEST }), styles).map(([cents, style]) => {
    const written = write(cents, -2, style);
    return { ...written, literal: `-${written.literal}` };
  }),
  styles.map((style) => write(0n, -2, style)),
);

function bodyOf(literal: string, requestKey: string): string {
  // The debit of this payment failed, so its refunds don't reduce each other's limit.
  return `{"paymentId":"pay_failed","amount":{"currency":"USD","value":${literal}},"requestKey":"${requestKey}"}`;
}

/** @clause 2.4 12.1 @decision D13 */
describe("an amount, in any form that JSON has for a number,", () => {
  const server = useTestServer();

  test("is accepted and stored exactly when it has at most two digits after the point", async () => {
    const property = fc.asyncProperty(amounts, async ({ coefficient, power, literal }) => {
      const body = bodyOf(literal, randomUUID());
      const issued = await post(server.url, "/v1/refunds", body);
      const duplicate = await post<Duplicate>(server.url, "/v1/refunds", body);

      expect([literal, issued.status, duplicate.status]).toEqual([literal, 201, 409]);
      const cents = coefficient * 10n ** BigInt(power + 2);
      const plain = `${cents / 100n}.${String(cents % 100n).padStart(2, "0")}`;
      expect(duplicate.body.existing.amount?.value.toFixed(2)).toBe(plain);
    });
    const examples = [
      write(13107201n, -2, { after: 2, mark: "e", plus: false, zeros: 0 }),
      write(123456789n, -2, { after: 8, mark: "E", plus: true, zeros: 0 }),
      write(LARGEST, -2, { after: 2, mark: "e", plus: false, zeros: 0 }),
    ];
    await fc.assert(property, { numRuns: 150, examples: examples.map((example) => [example]) });
  });

  test("is refused otherwise, by a violation that points at it", async () => {
    const property = fc.asyncProperty(noAmounts, async ({ literal }) => {
      const refused = await post<InvalidRequest>(server.url, "/v1/refunds", bodyOf(literal, randomUUID()));

      expect([literal, refused.status]).toEqual([literal, 400]);
      expect(refused.body.violations.map(({ pointer }) => pointer)).toEqual(["/amount/value"]);
    });
    await fc.assert(property, { numRuns: 150 });
  });
});
