import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readContract } from "../../../../openapi/document/contract.ts";
import {
  failureBy,
  firstStatus,
  nextStatus,
  ORIGINAL_TRANSITIONS,
  type Original,
  originalTransition,
  REFUND_TRANSITIONS,
  type RefundStatus,
  statusesLeftBy,
} from "../../../../server/domain/refunds.ts";

const SETTLED_AT = new Date("2026-11-16T15:00:00.000Z");
const DUE_AT = new Date("2026-11-19T05:00:00.000Z");
const BEFORE_DUE = new Date(DUE_AT.getTime() - 1);

const settled = {
  paymentId: "pay_1",
  kind: "DEBIT",
  status: "SETTLED",
  amountCents: 100_00,
  refundedCents: 0,
  settledAt: SETTLED_AT,
} as const satisfies Original;

const refundStatuses = ["PENDING", "AUTHORIZED", "TERMINAL_FAILED"] as const;
const originalStatuses = ["PROCESSING", "SETTLED", "FAILED", "COVERED"] as const;
const laterTriggers = ["time", "original-failed", "original-covered"] as const;

describe("the first status of a refund", () => {
  test.each<[string, Original, Date, object]>([
    [
      "waits without a date while the original payment is processing",
      { ...settled, status: "PROCESSING", settledAt: null },
      DUE_AT,
      { paymentStatus: "PENDING", dueAt: null },
    ],
    [
      "waits until the third business day after settlement",
      settled,
      BEFORE_DUE,
      { paymentStatus: "PENDING", dueAt: DUE_AT },
    ],
    ["is authorized from that day's first instant on", settled, DUE_AT, { paymentStatus: "AUTHORIZED" }],
    [
      "is failed when the original debit failed",
      { ...settled, status: "FAILED" },
      DUE_AT,
      { paymentStatus: "TERMINAL_FAILED", errorCode: "CUSTOMER_NOT_DEBITED" },
    ],
    [
      "is failed when the original payment never settled and failed",
      { ...settled, status: "FAILED", settledAt: null },
      DUE_AT,
      { paymentStatus: "TERMINAL_FAILED", errorCode: "CUSTOMER_NOT_DEBITED" },
    ],
    [
      "is failed when the original payment is covered",
      { ...settled, status: "COVERED" },
      DUE_AT,
      { paymentStatus: "TERMINAL_FAILED", errorCode: "PAYMENT_COVERED" },
    ],
    [
      "is failed when the payment is itself a refund",
      { ...settled, kind: "REFUND", status: "AUTHORIZED", settledAt: null },
      DUE_AT,
      { paymentStatus: "TERMINAL_FAILED", errorCode: "PAYMENT_NOT_REFUNDABLE" },
    ],
  ])("%s", (_, original, now, expected) => {
    expect(firstStatus(original, 10_00, { now })).toMatchObject(expected);
  });

  test.each([
    [0, 100_00, "AUTHORIZED"],
    [0, 100_01, "TERMINAL_FAILED"],
    [99_99, 1, "AUTHORIZED"],
    [99_99, 2, "TERMINAL_FAILED"],
    [100_00, 1, "TERMINAL_FAILED"],
  ])("with %i of 10000 cents refunded, %i more: %s", (refundedCents, amountCents, paymentStatus) => {
    expect(firstStatus({ ...settled, refundedCents }, amountCents, { now: DUE_AT })).toMatchObject({
      paymentStatus,
    });
  });

  test("is failed for too much also while the original payment is processing", () => {
    const processing = { ...settled, status: "PROCESSING", settledAt: null } as const;

    expect(firstStatus(processing, 100_01, { now: DUE_AT })).toEqual({
      paymentStatus: "TERMINAL_FAILED",
      errorCode: "AMOUNT_EXCEEDS_REFUNDABLE",
      errorMessage: "The amount is more than what is left to refund of the original payment.",
    });
  });

  /** @decision D12 */
  test.each<[string, Original]>([
    ["PAYMENT_NOT_REFUNDABLE", { ...settled, kind: "REFUND", status: "TERMINAL_FAILED", settledAt: null }],
    ["CUSTOMER_NOT_DEBITED", { ...settled, status: "FAILED" }],
    ["PAYMENT_COVERED", { ...settled, status: "COVERED" }],
    ["AMOUNT_EXCEEDS_REFUNDABLE", settled],
  ])("names %s before every later reason", (errorCode, original) => {
    expect(firstStatus(original, 500_00, { now: DUE_AT })).toMatchObject({ errorCode });
  });

  test("can't be decided for a settled payment without a date of settlement", () => {
    expect(() => firstStatus({ ...settled, settledAt: null }, 10_00, { now: DUE_AT })).toThrow("pay_1");
  });

  test("is a row of the table of transitions, whatever the original payment is", () => {
    const anyDebit = fc
      .constantFrom(...originalStatuses)
      .map((status) => ({ kind: "DEBIT" as const, status }));
    const anyRefund = fc
      .constantFrom(...refundStatuses)
      .map((status) => ({ kind: "REFUND" as const, status }));
    fc.assert(
      fc.property(
        fc.oneof(anyDebit, anyRefund),
        fc.nat(200_00),
        fc.nat(100_00),
        fc.boolean(),
        (what, amount, refunded, due) => {
          const settledAt = what.status === "PROCESSING" ? null : SETTLED_AT;
          const original = { ...settled, ...what, settledAt, refundedCents: refunded } as Original;
          const first = firstStatus(original, amount, { now: due ? DUE_AT : BEFORE_DUE });
          expect(REFUND_TRANSITIONS).toContainEqual({
            from: null,
            trigger: "issue",
            to: first.paymentStatus,
          });
          if (first.paymentStatus !== "TERMINAL_FAILED")
            expect(refunded + amount).toBeLessThanOrEqual(100_00);
        },
      ),
    );
  });
});

describe("the next status of a refund", () => {
  const expected: Record<RefundStatus, Record<(typeof laterTriggers)[number], RefundStatus | undefined>> = {
    PENDING: {
      time: "AUTHORIZED",
      "original-failed": "TERMINAL_FAILED",
      "original-covered": "TERMINAL_FAILED",
    },
    AUTHORIZED: {
      time: undefined,
      "original-failed": "TERMINAL_FAILED",
      "original-covered": "TERMINAL_FAILED",
    },
    TERMINAL_FAILED: { time: undefined, "original-failed": undefined, "original-covered": undefined },
  };
  const cases = refundStatuses.flatMap((from) =>
    laterTriggers.map((trigger) => [from, trigger, expected[from][trigger]] as const),
  );

  test.each(cases)("from %s by %s: %s", (from, trigger, to) => {
    expect(nextStatus(from, trigger)?.to).toBe(to);
    expect(statusesLeftBy(trigger).includes(from)).toBe(to !== undefined);
  });

  /** @clause 3.2 6.1 @decision D02 D17 */
  test("is in the contract's table as it is here, which names each status and leaves TERMINAL_FAILED by none", () => {
    type Table = { enum: string[]; "x-transitions": { from: string | null; to: string; trigger: string }[] };
    const { components } = readContract("openapi").document as {
      components: { schemas: { RefundStatus: Table } };
    };
    const { enum: statuses, "x-transitions": table } = components.schemas.RefundStatus;

    const transitions = table.map(({ from, trigger, to }) => ({ from, trigger, to }));
    expect(transitions).toHaveLength(REFUND_TRANSITIONS.length);
    expect(transitions).toEqual(expect.arrayContaining([...REFUND_TRANSITIONS]));
    const named = transitions.flatMap(({ from, to }) => [from, to]).filter((status) => status !== null);
    expect([...new Set(named)].toSorted()).toEqual(statuses.toSorted());
    expect(transitions.filter(({ from }) => from === "TERMINAL_FAILED")).toEqual([]);
  });

  /** @decision D17 */
  test("has no other transition than these eight, and none twice", () => {
    const transitions = REFUND_TRANSITIONS.map(({ from, trigger, to }) => `${from} ${trigger} ${to}`);

    expect(new Set(transitions).size).toBe(transitions.length);
    expect(transitions).toHaveLength(3 + cases.filter(([, , to]) => to).length);
  });

  test.each([
    ["original-failed", "CUSTOMER_NOT_DEBITED"],
    ["original-covered", "PAYMENT_COVERED"],
  ] as const)("by %s fails as %s", (trigger, errorCode) => {
    expect(failureBy(trigger)).toMatchObject({
      errorCode,
      errorMessage: expect.stringMatching(/^The .+\.$/),
    });
  });
});

describe("an original payment", () => {
  const possible = new Map<string, string | null>([
    ["PROCESSING SETTLED", null],
    ["PROCESSING FAILED", "original-failed"],
    ["SETTLED FAILED", "original-failed"],
    ["SETTLED COVERED", "original-covered"],
  ]);
  const cases = originalStatuses.flatMap((from) => originalStatuses.map((to) => [from, to] as const));

  /** @decision D16a */
  describe("changes its status only as the table says", () => {
    test.each(cases)("from %s to %s", (from, to) => {
      const refundTrigger = possible.get(`${from} ${to}`);

      expect(originalTransition(from, to)).toEqual(
        refundTrigger === undefined ? undefined : { from, to, refundTrigger },
      );
    });
  });

  test("has no other transition than these four", () => {
    expect(ORIGINAL_TRANSITIONS).toHaveLength(possible.size);
  });
});
