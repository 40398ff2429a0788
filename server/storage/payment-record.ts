import type { Selectable } from "kysely";
import type { Original, OriginalStatus, RefundFailure, RefundStatus } from "../domain/refunds.ts";
import type { HistoryEntry, PaymentsTable } from "./tables.ts";

type CommonRecord = {
  readonly paymentId: string;
  readonly merchant: string;
  readonly amountCents: number;
  readonly clientReferenceId: string | null;
  /** Every status so far, the first one included, oldest first. */
  readonly history: readonly HistoryEntry[];
  readonly createdAt: Date;
};

/** An original payment as it is stored. */
export type DebitRecord = CommonRecord & {
  readonly kind: "DEBIT";
  readonly status: OriginalStatus;
  readonly requestKey: string | null;
  /** What its refunds that have not failed add up to, in cents. */
  readonly refundedCents: number;
  readonly settledAt: Date | null;
};

/** A refund as it is stored. */
export type RefundRecord = CommonRecord & {
  readonly kind: "REFUND";
  readonly status: RefundStatus;
  readonly requestKey: string;
  readonly softDescriptor: string | null;
  readonly originalPaymentId: string;
  /** When it is authorised; null while nobody knows, and for one that never waited. */
  readonly dueAt: Date | null;
  readonly failure: RefundFailure | null;
};

export type PaymentRecord = DebitRecord | RefundRecord;

/** A row of the table `payments`. Which columns go together is held by the table's checks, hence the casts. */
export type PaymentRow = Selectable<PaymentsTable>;

export function toPaymentRecord(row: PaymentRow): PaymentRecord {
  return row.kind === "DEBIT" ? toDebitRecord(row) : toRefundRecord(row);
}

export function toDebitRecord(row: PaymentRow): DebitRecord {
  return {
    ...toCommonRecord(row),
    kind: "DEBIT",
    status: row.status as OriginalStatus,
    requestKey: row.request_key,
    refundedCents: row.refunded_cents,
    settledAt: row.settled_at,
  };
}

function toRefundRecord(row: PaymentRow): RefundRecord {
  return {
    ...toCommonRecord(row),
    kind: "REFUND",
    status: row.status as RefundStatus,
    requestKey: row.request_key as string,
    softDescriptor: row.soft_descriptor,
    originalPaymentId: row.original_payment_id as string,
    dueAt: row.due_at,
    failure: toFailure(row),
  };
}

function toCommonRecord(row: PaymentRow): CommonRecord {
  return {
    paymentId: row.payment_id,
    merchant: row.merchant,
    amountCents: row.amount_cents,
    clientReferenceId: row.client_reference_id,
    history: row.history,
    createdAt: row.created_at,
  };
}

function toFailure(row: Pick<PaymentRow, "error_code" | "error_message">): RefundFailure | null {
  if (row.error_code === null || row.error_message === null) return null;
  return { errorCode: row.error_code, errorMessage: row.error_message };
}

/** What the domain needs of a payment to decide on a refund of it. */
export function toOriginal(row: OriginalRow): Original {
  return {
    paymentId: row.payment_id,
    kind: row.kind,
    status: row.status,
    amountCents: row.amount_cents,
    refundedCents: row.refunded_cents,
    settledAt: row.settled_at,
  } as Original; // the table's checks give each kind its own statuses
}

export type OriginalRow = Pick<
  PaymentRow,
  "payment_id" | "kind" | "status" | "amount_cents" | "refunded_cents" | "settled_at"
>;
