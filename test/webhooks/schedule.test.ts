import { describe, expect, test } from "vitest";
import { RETRY_STEPS_MS, retryDelay, toRetryWish } from "../../server/webhooks/schedule.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const NOW = new Date("2026-11-16T15:00:00.000Z");

/** @decision D23 */
describe("the delay after a failed attempt", () => {
  test("is a step of the schedule, of nine steps, and then there is none", () => {
    const delays = Array.from({ length: 10 }, (_, index) => retryDelay(index + 1, 0));

    expect(delays).toEqual([
      ...[5_000, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 14 * HOUR, 20 * HOUR, 24 * HOUR],
      undefined,
    ]);
  });

  test("is made longer by chance, by less than a fifth", () => {
    for (const [index, step] of RETRY_STEPS_MS.entries()) {
      expect(retryDelay(index + 1, 0.5)).toBe(Math.round(step * 1.1));
      expect(retryDelay(index + 1, 1 - Number.EPSILON)).toBe(Math.round(step * 1.2));
    }
  });

  test.each([
    ["nothing", 0, 5 * MINUTE],
    ["less than the step", 4 * MINUTE, 5 * MINUTE],
    ["more than the step", 7 * MINUTE, 7 * MINUTE],
    ["twice the step", 10 * MINUTE, 10 * MINUTE],
    ["more than twice the step", 10 * MINUTE + 1, 10 * MINUTE],
    ["years", 1e12, 10 * MINUTE],
    ["more than a number can hold", Number.POSITIVE_INFINITY, 10 * MINUTE],
  ])("is put off by a receiver that wishes for %s", (_, wishMs, delay) => {
    expect(retryDelay(2, 0, wishMs)).toBe(delay);
  });

  test("is not shortened by a wish that chance has overtaken", () => {
    expect(retryDelay(2, 0.9, 5.5 * MINUTE)).toBe(5.9 * MINUTE);
  });
});

describe("Retry-After", () => {
  test.each([
    [undefined, 0],
    ["", 0],
    ["0", 0],
    ["120", 120_000],
    [" 120 ", 120_000],
    ["1000000000", 1e12],
    ["9".repeat(400), Number.POSITIVE_INFINITY],
    ["-1", 0],
    ["1.5", 0],
    ["1e3", 0],
    ["soon", 0],
    ["2026-11-16T16:00:00Z", 0],
    ["Mon, 16 Nov 2026 15:02:00 GMT", 120_000],
    ["Monday, 16-Nov-26 15:02:00 GMT", 120_000],
    ["Mon, 16 Nov 2026 15:00:00 GMT", 0],
    ["Sun, 06 Nov 1994 08:49:37 GMT", 0],
    ["Mon, 99 Nov 2026 15:02:00 GMT", 0],
  ])("%j asks for %d ms", (header, wishMs) => {
    expect(toRetryWish(header, NOW)).toBe(wishMs);
  });
});
