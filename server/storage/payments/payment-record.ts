import { type RawBuilder, sql } from "kysely";
import type { OriginalStatus, RefundErrorCode, RefundFailure, RefundStatus } from "../../domain/refunds.ts";
import type { HistoryEntry } from "../database/tables.ts";

/** Identifies a payment record: identifiers belong to a merchant. */
export type PaymentKey = { readonly merchant: string; readonly paymentId: string };

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
  /** The sum of its refunds that have not failed, in cents. */
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
  /** When it is authorized; null until its original payment has settled, and for a refund that never waited. */
  readonly dueAt: Date | null;
  readonly failure: RefundFailure | null;
};

export type PaymentRecord = DebitRecord | RefundRecord;

/**
 * A row of the table `payments`, which holds original payments and refunds, because a requestKey is unique among both (D10). The
 * table's checks ensure which columns occur together, hence the casts below.
 */
export type PaymentRow = {
  readonly payment_id: string;
  readonly merchant: string;
  readonly kind: "DEBIT" | "REFUND";
  readonly status: OriginalStatus | RefundStatus;
  readonly amount_cents: number;
  readonly request_key: string | null;
  readonly client_reference_id: string | null;
  readonly soft_descriptor: string | null;
  readonly original_payment_id: string | null;
  readonly refunded_cents: number;
  readonly settled_at: Date | null;
  readonly due_at: Date | null;
  readonly error_code: RefundErrorCode | null;
  readonly error_message: string | null;
  readonly history: readonly HistoryEntry[];
  readonly created_at: Date;
};

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

/**
 * The texts of a payment record that merchants choose freely, read exactly as they were written. As JSON, because the driver
 * of the embedded store drops U+FEFF at the beginning of a text as a byte order mark.
 */
export const exactTexts = [
  sql<string | null>`to_jsonb(client_reference_id)`.as("client_reference_id"),
  sql<string | null>`to_jsonb(request_key)`.as("request_key"),
] as const;

/** A requestKey of a merchant. */
export type RequestKey = { readonly merchant: string; readonly requestKey: string };

/** The condition that a row of `payments` is one of these payments or refunds of a merchant. */
export function isOneOf(merchant: string, paymentIds: readonly string[]): RawBuilder<boolean> {
  return sql<boolean>`merchant = ${merchant} and payment_id = any(${paymentIds}::text[])`;
}
