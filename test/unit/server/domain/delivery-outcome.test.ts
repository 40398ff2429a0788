import { readFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import {
  CIRCUMSTANCES,
  endsSubscription,
  type NextDelivery,
  nextDelivery,
  type Outcome,
  toOutcome,
} from "../../../../server/domain/delivery-outcome.ts";
import { parseRetryAfter, RETRY_STEPS_MS, retryDelay } from "../../../../server/domain/retry-schedule.ts";

const [FIRST_STEP] = RETRY_STEPS_MS;
const RETRIES = RETRY_STEPS_MS.length;
const [SECOND, MINUTE, HOUR] = [1_000, 60_000, 3_600_000];
/** By the first letter of `s` or `seconds`, and so on. */
const UNITS_MS: Readonly<Record<string, number>> = { s: SECOND, m: MINUTE, h: HOUR };
const NOW = new Date("2026-11-16T15:00:00.000Z");

describe("the outcome of an attempt", () => {
  const chance = { random: 0, realNow: NOW };

  test.each<[status: number | null, success: boolean, attempts: number, outcome: Outcome]>([
    [200, true, 1, { kind: "delivered" }],
    [500, false, 1, { kind: "retry", afterMs: FIRST_STEP }],
    [301, false, RETRIES, { kind: "retry", afterMs: RETRY_STEPS_MS[RETRIES - 1] ?? 0 }],
    [500, false, RETRIES + 1, { kind: "exhausted" }],
    [null, false, RETRIES + 1, { kind: "exhausted" }],
    [410, false, RETRIES + 1, { kind: "ended" }],
  ])("with status %s, success %s, as attempt %d is %o", (status, success, attempts, outcome) => {
    expect(toOutcome({ status, success, retryAfter: undefined }, attempts, chance)).toEqual(outcome);
  });

  test("ends the subscription only with 410", () => {
    const kinds = (["delivered", "exhausted", "ended"] as const).filter((kind) => endsSubscription({ kind }));

    expect(kinds).toEqual(["ended"]);
    expect(endsSubscription({ kind: "retry", afterMs: 1 })).toBe(false);
  });
});

describe("the next state of a delivery", () => {
  const state = (state: NextDelivery["state"], onlyOnce = false, dueAfterMs: number | null = null) => ({
    state,
    attempts: 3,
    onlyOnce,
    dueAfterMs,
  });
  /** After each outcome: undisturbed, redelivered meanwhile, with the subscription ended, and if it was sent only once. */
  const expected: Record<Outcome["kind"], readonly NextDelivery[]> = {
    delivered: [state("DELIVERED"), state("PENDING", true, 0), state("DELIVERED"), state("DELIVERED")],
    retry: [state("PENDING", false, 5_000), state("PENDING", false, 0), state("ENDED"), state("EXHAUSTED")],
    exhausted: [state("EXHAUSTED"), state("PENDING", true, 0), state("ENDED"), state("EXHAUSTED")],
    ended: [state("ENDED"), state("ENDED"), state("ENDED"), state("ENDED")],
  };
  const circumstances = ["undisturbed", "redelivery", "subscription-ended", "only-once"] as const;
  const kinds = ["delivered", "retry", "exhausted", "ended"] as const;
  const cases = kinds.flatMap((kind) => circumstances.map((one, index) => ({ kind, one, index })));

  test.each(cases)("after $kind, $one", ({ kind, one, index }) => {
    const outcome: Outcome = kind === "retry" ? { kind, afterMs: 5_000 } : { kind };

    expect(nextDelivery(outcome, 3, one)).toEqual(expected[kind][index]);
    expect(circumstances).toEqual(CIRCUMSTANCES);
  });
});

describe("the delay after a failed attempt", () => {
  test.each([
    ["docs/decisions.md", /The others follow (.+?) after/s],
    ["docs/guides/receiving-webhooks.md", /repeated after (.+?), each/s],
  ])("is a step of the schedule that %s tells, and then undefined", (page, sentence) => {
    const text = readFileSync(page, "utf8");
    const [, told = ""] = sentence.exec(text) ?? [];
    const steps = told.split(/,|and/).map((step) => step.trim().split(/\s+/));
    const unitAfter = (index: number) =>
      steps
        .slice(index)
        .find(([, unit]) => unit)?.[1]
        ?.at(0) ?? "";
    const toldMs = steps.map(([count], index) => Number(count) * (UNITS_MS[unitAfter(index)] ?? 0));

    expect(RETRY_STEPS_MS.map((_, index) => retryDelay(index + 1, 0))).toEqual(toldMs);
    expect(retryDelay(RETRIES + 1, 0)).toBeUndefined();
    expect(/(\d+) attempts/.exec(text)?.[1]).toBe(`${RETRIES + 1}`);
  });

  test("is lengthened at random, by less than a fifth", () => {
    for (const [index, step] of RETRY_STEPS_MS.entries()) {
      expect(retryDelay(index + 1, 0.5)).toBe(Math.round(step * 1.1));
      expect(retryDelay(index + 1, 1 - Number.EPSILON)).toBe(Math.round(step * 1.2));
    }
  });

  test.each([
    ["less than the step", FIRST_STEP / 2, FIRST_STEP],
    ["more than the step", FIRST_STEP * 1.5, FIRST_STEP * 1.5],
    ["more than twice the step", FIRST_STEP * 2 + 1, FIRST_STEP * 2],
    ["more than a number can hold", Number.POSITIVE_INFINITY, FIRST_STEP * 2],
  ])("is lengthened by a Retry-After of %s", (_, retryAfterMs, delay) => {
    expect(retryDelay(1, 0, retryAfterMs)).toBe(delay);
  });
});

describe("Retry-After", () => {
  beforeEach(() => void vi.stubEnv("TZ", "America/New_York"));
  afterEach(() => void vi.unstubAllEnvs());

  test.each([
    [undefined, 0],
    ["120", 120_000],
    [" 120 ", 120_000],
    ["9".repeat(400), Number.POSITIVE_INFINITY],
    ["-1", 0],
    ["1.5", 0],
    ["1e3", 0],
    ["soon", 0],
    ["Mon, 16 Nov 2026 15:02:00 GMT", 120_000],
    ["Monday, 16-Nov-26 15:02:00 GMT", 120_000],
    ["Mon Nov 16 15:02:00 2026", 120_000], // as asctime writes it, and without a zone
    ["Mon, 16 Nov 2026 16:02:00 +0100", 120_000],
    ["2026-11-16T15:02:00Z", 0],
    ["on Mon, 16 Nov 2026 15:02:00 GMT", 0],
    ["Sun, 06 Nov 1994 08:49:37 GMT", 0],
    ["Mon, 99 Nov 2026 15:02:00 GMT", 0],
  ])("%j asks for %d ms", (header, retryAfterMs) => {
    expect(parseRetryAfter(header, NOW)).toBe(retryAfterMs);
  });
});
