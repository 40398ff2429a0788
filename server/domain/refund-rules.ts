import type { components as sandbox } from "../../openapi/generated/sandbox-types.ts";
import type { components } from "../../openapi/generated/types.ts";
import { refundDueAt } from "./business-days.ts";

/**
 * The status of a refund at the moment it is issued (D11, D12, D16).
 *
 * @param amountCents the amount to refund, in cents
 * @param at.now the domain's time (D30)
 * @param at.isDoubted whether that time may be wrong, so that the refund waits even if it seems due
 */
export function firstStatus(
  original: Original,
  amountCents: number,
  { now, isDoubted = false }: { now: Date; isDoubted?: boolean },
): FirstStatus {
  const errorCode = refusal(original, amountCents);
  if (errorCode) return { paymentStatus: "TERMINAL_FAILED", ...failure(errorCode) };
  if (original.status === "PROCESSING") return { paymentStatus: "PENDING", dueAt: null };
  if (!original.settledAt)
    throw new Error(`payment ${original.paymentId} is settled, but has no date of settlement`);

  const dueAt = refundDueAt(original.settledAt);
  return dueAt <= now && !isDoubted ? { paymentStatus: "AUTHORIZED" } : { paymentStatus: "PENDING", dueAt };
}

export type RefundStatus = components["schemas"]["RefundStatus"];
/** The published contract has no schema of its own for original payments; the sandbox's has (D16a, D25). */
export type OriginalStatus = sandbox["schemas"]["OriginalStatus"];
export type RefundTrigger = "issue" | "time" | "original-failed" | "original-covered";

/** One row of the interface's table: the trigger that takes a refund from one status to another. */
type RefundTransition = {
  readonly from: RefundStatus | null;
  readonly trigger: RefundTrigger;
  readonly to: RefundStatus;
};

/** All transitions of a refund (D17); the contract carries the same table as `x-transitions`. */
export const REFUND_TRANSITIONS = [
  { from: null, trigger: "issue", to: "PENDING" },
  { from: null, trigger: "issue", to: "AUTHORIZED" },
  { from: null, trigger: "issue", to: "TERMINAL_FAILED" },
  { from: "PENDING", trigger: "time", to: "AUTHORIZED" },
  { from: "PENDING", trigger: "original-failed", to: "TERMINAL_FAILED" },
  { from: "PENDING", trigger: "original-covered", to: "TERMINAL_FAILED" },
  { from: "AUTHORIZED", trigger: "original-failed", to: "TERMINAL_FAILED" },
  { from: "AUTHORIZED", trigger: "original-covered", to: "TERMINAL_FAILED" },
] as const satisfies readonly RefundTransition[];

/** A transition of an original payment, and the trigger that its refunds get by it. */
export type OriginalTransition = {
  readonly from: OriginalStatus;
  readonly to: OriginalStatus;
  readonly refundTrigger: "original-failed" | "original-covered" | null;
};

/** All transitions of an original payment (D16a). */
export const ORIGINAL_TRANSITIONS = [
  { from: "PROCESSING", to: "SETTLED", refundTrigger: null },
  { from: "PROCESSING", to: "FAILED", refundTrigger: "original-failed" },
  { from: "SETTLED", to: "FAILED", refundTrigger: "original-failed" },
  { from: "SETTLED", to: "COVERED", refundTrigger: "original-covered" },
] as const satisfies readonly OriginalTransition[];

/** The codes that we send (D12). The contract's type also has any other text, because its list may grow. */
export type RefundErrorCode = Named<components["schemas"]["RefundErrorDetails"]["errorCode"]>;
type Named<Text> = Text extends unknown ? (string extends Text ? never : Text) : never;

/** Why a refund failed: a code for programs, and a message for people. */
export type RefundFailure = { errorCode: RefundErrorCode; errorMessage: string };

const ERROR_MESSAGES = {
  PAYMENT_NOT_REFUNDABLE: "The payment is itself a refund, and a refund can't be refunded.",
  CUSTOMER_NOT_DEBITED: "The original debit was not successful, so there is nothing to refund.",
  PAYMENT_COVERED: "The original payment fell into the service's cover, so it can't be refunded.",
  AMOUNT_EXCEEDS_REFUNDABLE: "The amount is more than what is left to refund of the original payment.",
} as const satisfies Record<RefundErrorCode, string>;

/** The payment that a refund names: a debit, or another refund by mistake. Amounts are in cents. */
export type Original = {
  readonly paymentId: string;
  readonly amountCents: number;
  /** The sum of its refunds that have not failed (D11). */
  readonly refundedCents: number;
  readonly settledAt: Date | null;
} & (
  | { readonly kind: "DEBIT"; readonly status: OriginalStatus }
  | { readonly kind: "REFUND"; readonly status: RefundStatus }
);

/** The status that a refund starts in. `dueAt` is null until its original payment has settled. */
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

/** The statuses from which a trigger leads to another one. */
export function statusesLeftBy(trigger: Exclude<RefundTrigger, "issue">): readonly RefundStatus[] {
  return REFUND_TRANSITIONS.filter((transition) => transition.trigger === trigger).flatMap(
    (transition) => transition.from ?? [],
  );
}

/** The failure of a refund whose original payment fails or is covered (D12). */
export function failureBy(trigger: "original-failed" | "original-covered"): RefundFailure {
  return failure(trigger === "original-failed" ? "CUSTOMER_NOT_DEBITED" : "PAYMENT_COVERED");
}

/** The transition of an original payment between two statuses; undefined when there is none (D16a). */
export function originalTransition(from: OriginalStatus, to: OriginalStatus): OriginalTransition | undefined {
  return ORIGINAL_TRANSITIONS.find((transition) => transition.from === from && transition.to === to);
}
