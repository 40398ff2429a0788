import { type QueryResult, type RawBuilder, type Selectable, sql } from "kysely";
import type { Original, OriginalStatus, RefundFailure, RefundStatus } from "../../domain/refunds.ts";
import type { HistoryEntry, PaymentsTable } from "../database/tables.ts";

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

/** A row of the table `payments`. The table's checks ensure which columns occur together, hence the casts below. */
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

/** The part of a payment on which the domain decides a refund. */
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

type FoundRow = PaymentRow & { found: boolean };

/** The records with these keys, by one statement, in the order of the keys. */
export function selectByRequestKeys(keys: readonly RequestKey[], further = sql``): RawBuilder<FoundRow> {
  // `limit` and JSON for the reasons given in `loadOriginals`.
  return sql<FoundRow>`
    select p.payment_id is not null as found, p.*
    from json_to_recordset(${JSON.stringify(keys.map((key, position) => ({ position, ...key })))}::json)
      as wanted (position integer, "requestKey" text, merchant text)
    left join lateral (
      select payments.*, ${sql.join(exactTexts)} from payments
      where request_key = wanted."requestKey" and merchant = wanted.merchant ${further}
      limit 1
    ) as p on true
    order by wanted.position`;
}

export function toFoundRecords({ rows }: QueryResult<FoundRow>): (PaymentRecord | undefined)[] {
  return rows.map(({ found, ...row }) => (found ? toPaymentRecord(row) : undefined));
}
