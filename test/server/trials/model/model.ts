import { refundDueAt } from "../../../../server/domain/business-days.ts";

/*
 * The interface's table, as briefly as possible and without code of the server except for its calendar, which has tests of
 * its own. Money is in cents, instants are in milliseconds.
 */
export type OriginalStatus = "PROCESSING" | "SETTLED" | "FAILED" | "COVERED";
export type RefundStatus = "PENDING" | "AUTHORIZED" | "TERMINAL_FAILED";

export type ModelPayment = {
  readonly kind: "DEBIT";
  readonly id: string;
  readonly cents: number;
  readonly key: string | null;
  status: OriginalStatus;
  settledAt: number | null;
  readonly history: { status: OriginalStatus; at: number }[];
};

export type ModelRefund = {
  readonly kind: "REFUND";
  readonly id: string;
  readonly originalId: string;
  readonly cents: number;
  readonly key: string;
  readonly reference: string | null;
  status: RefundStatus;
  errorCode: string | null;
  readonly history: { status: RefundStatus; at: number }[];
};

export type ModelRecord = ModelPayment | ModelRefund;

export type Model = {
  now: number;
  readonly records: ModelRecord[];
  /** Counts the used keys. */
  keysUsed: number;
  restarted: boolean;
};

export const TRANSITIONS: Readonly<Record<OriginalStatus, readonly OriginalStatus[]>> = {
  PROCESSING: ["SETTLED", "FAILED"],
  SETTLED: ["FAILED", "COVERED"],
  FAILED: [],
  COVERED: [],
};

export function paymentsOf({ records }: Model): ModelPayment[] {
  return records.filter((record) => record.kind === "DEBIT");
}

export function refundsOf({ records }: Model): ModelRefund[] {
  return records.filter((record) => record.kind === "REFUND");
}

function liveRefundsOf(model: Model, originalId: string): ModelRefund[] {
  return refundsOf(model).filter(
    (refund) => refund.originalId === originalId && refund.status !== "TERMINAL_FAILED",
  );
}

export function leftOf(model: Model, { id, cents }: ModelPayment): number {
  return liveRefundsOf(model, id).reduce((left, refund) => left - refund.cents, cents);
}

/** When a waiting refund is authorized; null while its payment has not settled. */
function dueOf(model: Model, { originalId }: ModelRefund): number | null {
  const settledAt = paymentsOf(model).find(({ id }) => id === originalId)?.settledAt ?? null;
  return settledAt === null ? null : refundDueAt(new Date(settledAt)).getTime();
}

/** The next instants at which a waiting refund is authorized, earliest first. */
export function dueTimesOf(model: Model): number[] {
  const waiting = refundsOf(model).filter(({ status }) => status === "PENDING");
  const times = waiting.map((refund) => dueOf(model, refund)).filter((due) => due !== null);
  return times.toSorted((a, b) => a - b);
}

/** The first status of a refund, and the reason when it fails. */
export function firstStatus(
  model: Model,
  original: ModelRecord,
  cents: number,
): { status: RefundStatus; errorCode: string | null } {
  const fails = (errorCode: string) => ({ status: "TERMINAL_FAILED", errorCode }) as const;
  if (original.kind === "REFUND") return fails("PAYMENT_NOT_REFUNDABLE");
  if (original.status === "FAILED") return fails("CUSTOMER_NOT_DEBITED");
  if (original.status === "COVERED") return fails("PAYMENT_COVERED");
  if (cents > leftOf(model, original)) return fails("AMOUNT_EXCEEDS_REFUNDABLE");
  const isDue =
    original.settledAt !== null && refundDueAt(new Date(original.settledAt)).getTime() <= model.now;
  return { status: isDue ? "AUTHORIZED" : "PENDING", errorCode: null };
}

/** Makes a valid transition of an original payment, and the resulting ones of its refunds. */
export function transitionOriginal(
  model: Model,
  payment: ModelPayment,
  to: OriginalStatus,
  settledAt: number,
): void {
  payment.status = to;
  payment.history.push({ status: to, at: model.now });
  if (to === "SETTLED") {
    payment.settledAt = settledAt;
    return;
  }
  for (const refund of liveRefundsOf(model, payment.id)) {
    refund.errorCode = to === "FAILED" ? "CUSTOMER_NOT_DEBITED" : "PAYMENT_COVERED";
    changeRefund(model, refund, "TERMINAL_FAILED");
  }
}

/** Advances the time, and makes every transition that is due. */
export function advanceTo(model: Model, now: number): void {
  model.now = now;
  for (const refund of refundsOf(model)) {
    const due = refund.status === "PENDING" ? dueOf(model, refund) : null;
    if (due !== null && due <= now) changeRefund(model, refund, "AUTHORIZED");
  }
}

function changeRefund(model: Model, refund: ModelRefund, status: RefundStatus): void {
  refund.status = status;
  refund.history.push({ status, at: model.now });
}
