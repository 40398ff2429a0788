import { describe, expect, test } from "vitest";
import { readContract } from "../../../../openapi/document/read-contract.ts";
import { refundDueAt } from "../../../../server/domain/business-days.ts";
import {
  failureBy,
  firstStatus,
  ORIGINAL_TRANSITIONS,
  type Original,
  originalTransition,
  REFUND_TRANSITIONS,
  type RefundStatus,
  statusesLeftBy,
} from "../../../../server/domain/refund-rules.ts";

const SETTLED_AT = new Date("2026-11-16T15:00:00.000Z");
const DUE_AT = refundDueAt(SETTLED_AT);
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

const processing = { ...settled, status: "PROCESSING", settledAt: null } as const;

describe("the first status of a refund", () => {
  test.each<[string, Original, Date, object]>([
    [
      "waits without a date for the settlement",
      processing,
      DUE_AT,
      { paymentStatus: "PENDING", dueAt: null },
    ],
    [
      "waits until the day on which it is due",
      settled,
      BEFORE_DUE,
      { paymentStatus: "PENDING", dueAt: DUE_AT },
    ],
    ["is authorized from that day's first instant on", settled, DUE_AT, { paymentStatus: "AUTHORIZED" }],
  ])("%s", (_, original, now, expected) => {
    expect(firstStatus(original, 10_00, { now })).toMatchObject(expected);
  });

  test.each([
    [0, 100_00, "AUTHORIZED"],
    [0, 100_01, "TERMINAL_FAILED"],
    [99_99, 1, "AUTHORIZED"],
    [99_99, 2, "TERMINAL_FAILED"],
  ])("with %i of 10000 cents refunded, %i more: %s", (refundedCents, amountCents, paymentStatus) => {
    const first = firstStatus({ ...settled, refundedCents }, amountCents, { now: DUE_AT });

    expect(first).toMatchObject({ paymentStatus });
  });

  test.each<[errorCode: string, original: Original]>([
    ["PAYMENT_NOT_REFUNDABLE", { ...settled, kind: "REFUND", status: "TERMINAL_FAILED", settledAt: null }],
    ["CUSTOMER_NOT_DEBITED", { ...settled, status: "FAILED" }],
    ["CUSTOMER_NOT_DEBITED", { ...settled, status: "FAILED", settledAt: null }],
    ["PAYMENT_COVERED", { ...settled, status: "COVERED" }],
    ["AMOUNT_EXCEEDS_REFUNDABLE", settled],
    ["AMOUNT_EXCEEDS_REFUNDABLE", processing],
  ])("names %s before every later reason (%j)", (errorCode, original) => {
    expect(firstStatus(original, 500_00, { now: DUE_AT })).toEqual({
      paymentStatus: "TERMINAL_FAILED",
      errorCode,
      errorMessage: expect.stringMatching(/^The .+\.$/),
    });
  });

  test("can't be decided for a settled payment without a date of settlement", () => {
    expect(() => firstStatus({ ...settled, settledAt: null }, 10_00, { now: DUE_AT })).toThrow("pay_1");
  });
});

describe("the next status of a refund", () => {
  /** By time, by the original's failure, and by its cover. */
  const expected: Record<RefundStatus, readonly (RefundStatus | undefined)[]> = {
    PENDING: ["AUTHORIZED", "TERMINAL_FAILED", "TERMINAL_FAILED"],
    AUTHORIZED: [undefined, "TERMINAL_FAILED", "TERMINAL_FAILED"],
    TERMINAL_FAILED: [undefined, undefined, undefined],
  };
  const cases = refundStatuses.flatMap((from) =>
    laterTriggers.map((trigger, index) => [from, trigger, expected[from][index]] as const),
  );

  test.each(cases)("from %s by %s: %s", (from, trigger, to) => {
    const transition = REFUND_TRANSITIONS.find((row) => row.from === from && row.trigger === trigger);
    expect(transition?.to).toBe(to);
    expect(statusesLeftBy(trigger).includes(from)).toBe(to !== undefined);
  });

  test("follows the contract's table, which names each status and has no way out of TERMINAL_FAILED", () => {
    type Table = { enum: string[]; "x-transitions": { from: string | null; to: string; trigger: string }[] };
    const { components } = readContract("openapi").document as {
      components: { schemas: { RefundStatus: Table } };
    };
    const { enum: statuses, "x-transitions": table } = components.schemas.RefundStatus;

    const transitions = table.map(({ from, trigger, to }) => ({ from, trigger, to }));
    expect(transitions).toHaveLength(3 + cases.filter(([, , to]) => to).length);
    expect(REFUND_TRANSITIONS).toHaveLength(transitions.length);
    expect(transitions).toEqual(expect.arrayContaining([...REFUND_TRANSITIONS]));
    const named = transitions.flatMap(({ from, to }) => [from, to]).filter((status) => status !== null);
    expect([...new Set(named)].toSorted()).toEqual(statuses.toSorted());
    expect(transitions.filter(({ from }) => from === "TERMINAL_FAILED")).toEqual([]);
  });

  test.each([
    ["original-failed", "CUSTOMER_NOT_DEBITED"],
    ["original-covered", "PAYMENT_COVERED"],
  ] as const)("by %s fails as %s", (trigger, errorCode) => {
    expect(failureBy(trigger)).toMatchObject({ errorCode });
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

  test.each(cases)("changes its status only as the table says: from %s to %s", (from, to) => {
    const refundTrigger = possible.get(`${from} ${to}`);

    expect(ORIGINAL_TRANSITIONS).toHaveLength(possible.size);
    expect(originalTransition(from, to)).toEqual(
      refundTrigger === undefined ? undefined : { from, to, refundTrigger },
    );
  });
});
