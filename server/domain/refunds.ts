import { refundDueAt } from "./business-days.ts";

export type RefundStatus = "PENDING" | "AUTHORIZED" | "TERMINAL_FAILED";
export type OriginalStatus = "PROCESSING" | "SETTLED" | "FAILED" | "COVERED";
export type RefundTrigger = "issue" | "time" | "original-failed" | "original-covered";

/** One row of the interface's table: a status and what makes it become another one. */
export type RefundMove = {
  readonly from: RefundStatus | null;
  readonly trigger: RefundTrigger;
  readonly to: RefundStatus;
};

/** Every move of a refund that there is (D17); the contract carries the same table as `x-transitions`. */
export const REFUND_MOVES = [
  { from: null, trigger: "issue", to: "PENDING" },
  { from: null, trigger: "issue", to: "AUTHORIZED" },
  { from: null, trigger: "issue", to: "TERMINAL_FAILED" },
  { from: "PENDING", trigger: "time", to: "AUTHORIZED" },
  { from: "PENDING", trigger: "original-failed", to: "TERMINAL_FAILED" },
  { from: "PENDING", trigger: "original-covered", to: "TERMINAL_FAILED" },
  { from: "AUTHORIZED", trigger: "original-failed", to: "TERMINAL_FAILED" },
  { from: "AUTHORIZED", trigger: "original-covered", to: "TERMINAL_FAILED" },
] as const satisfies readonly RefundMove[];

/** What happens to the refunds of an original payment that moves. */
export type OriginalMove = {
  readonly from: OriginalStatus;
  readonly to: OriginalStatus;
  readonly refundTrigger: "original-failed" | "original-covered" | null;
};

/** Every move of an original payment that there is (D16a). */
export const ORIGINAL_MOVES = [
  { from: "PROCESSING", to: "SETTLED", refundTrigger: null },
  { from: "PROCESSING", to: "FAILED", refundTrigger: "original-failed" },
  { from: "SETTLED", to: "FAILED", refundTrigger: "original-failed" },
  { from: "SETTLED", to: "COVERED", refundTrigger: "original-covered" },
] as const satisfies readonly OriginalMove[];

/** Why a refund failed, for the end user of the merchant's program and for the program. */
export type RefundFailure = { readonly errorCode: RefundErrorCode; readonly errorMessage: string };

const ERROR_MESSAGES = {
  PAYMENT_NOT_REFUNDABLE: "The payment is itself a refund, and a refund can't be refunded.",
  CUSTOMER_NOT_DEBITED: "The original debit was not successful, so there is nothing to refund.",
  PAYMENT_COVERED: "The original payment fell into the service's cover, so it can't be refunded.",
  AMOUNT_EXCEEDS_REFUNDABLE: "The amount is more than what is left to refund of the original payment.",
} as const;

export type RefundErrorCode = keyof typeof ERROR_MESSAGES;

/** The payment that a refund names: a debit, or by mistake another refund. Amounts are in cents. */
export type Original = {
  readonly paymentId: string;
  readonly amountCents: number;
  /** What its refunds that have not failed add up to (D11). */
  readonly refundedCents: number;
  readonly settledAt: Date | null;
} & (
  | { readonly kind: "DEBIT"; readonly status: OriginalStatus }
  | { readonly kind: "REFUND"; readonly status: RefundStatus }
);

/** The status that a refund is born with. `dueAt` is null while nobody knows when the original will have settled. */
export type FirstStatus =
  | { readonly paymentStatus: "PENDING"; readonly dueAt: Date | null }
  | { readonly paymentStatus: "AUTHORIZED" }
  | ({ readonly paymentStatus: "TERMINAL_FAILED" } & RefundFailure);

function failure(errorCode: RefundErrorCode): RefundFailure {
  return { errorCode, errorMessage: ERROR_MESSAGES[errorCode] };
}

/** Whether this amount (cents) can still be refunded of the original payment (D11). */
export function isRefundable(original: Original, amountCents: number): boolean {
  return original.refundedCents + amountCents <= original.amountCents;
}

/** Why a refund of this amount (cents) fails at once, or undefined; the order of the checks is D12's. */
function refusal(original: Original, amountCents: number): RefundErrorCode | undefined {
  if (original.kind === "REFUND") return "PAYMENT_NOT_REFUNDABLE";
  if (original.status === "FAILED") return "CUSTOMER_NOT_DEBITED";
  if (original.status === "COVERED") return "PAYMENT_COVERED";
  if (!isRefundable(original, amountCents)) return "AMOUNT_EXCEEDS_REFUNDABLE";
  return undefined;
}

/**
 * The status of a refund at the moment it is issued (D11, D12, D16).
 *
 * @param amountCents the amount to refund, in cents
 * @param now the domain's time (D30)
 */
export function firstStatus(original: Original, amountCents: number, now: Date): FirstStatus {
  const errorCode = refusal(original, amountCents);
  if (errorCode) return { paymentStatus: "TERMINAL_FAILED", ...failure(errorCode) };
  if (original.status === "PROCESSING") return { paymentStatus: "PENDING", dueAt: null };
  if (!original.settledAt)
    throw new Error(`payment ${original.paymentId} is settled, but not known since when`);

  const dueAt = refundDueAt(original.settledAt);
  return dueAt <= now ? { paymentStatus: "AUTHORIZED" } : { paymentStatus: "PENDING", dueAt };
}

/** The move that a trigger makes with a refund of this status; undefined for what can't happen (D17). */
export function nextStatus(
  current: RefundStatus,
  trigger: Exclude<RefundTrigger, "issue">,
): RefundMove | undefined {
  return REFUND_MOVES.find((move) => move.from === current && move.trigger === trigger);
}

/** The statuses that a trigger moves refunds out of. */
export function statusesMovedBy(trigger: Exclude<RefundTrigger, "issue">): readonly RefundStatus[] {
  return REFUND_MOVES.filter((move) => move.trigger === trigger).flatMap((move) => move.from ?? []);
}

/** The failure that a refund ends with when its original payment fails or is covered (D12). */
export function failureBy(trigger: "original-failed" | "original-covered"): RefundFailure {
  return failure(trigger === "original-failed" ? "CUSTOMER_NOT_DEBITED" : "PAYMENT_COVERED");
}

/** The move of an original payment between two statuses; undefined for what can't happen (D16a). */
export function originalMove(from: OriginalStatus, to: OriginalStatus): OriginalMove | undefined {
  return ORIGINAL_MOVES.find((move) => move.from === from && move.to === to);
}
