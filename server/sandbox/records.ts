import { toRefundView } from "../domain/events.ts";
import { fromCents } from "../domain/money.ts";
import type { OriginalStatus, RefundStatus } from "../domain/refunds.ts";
import type { SandboxSchemas } from "../http/schemas.ts";
import type { DebitRecord, PaymentRecord, RefundRecord } from "../storage/payment-record.ts";

/** A stored record as the sandbox shows it. */
export function toRecord(record: PaymentRecord): SandboxSchemas["PaymentRecord"] {
  return record.kind === "DEBIT" ? toDebit(record) : toRefundRecord(record);
}

/** An original payment as the sandbox shows it. */
export function toDebit(record: DebitRecord): SandboxSchemas["Debit"] {
  return {
    kind: "DEBIT",
    paymentId: record.paymentId,
    amount: dollars(record.amountCents),
    status: record.status,
    settledAt: record.settledAt?.toISOString() ?? null,
    requestKey: record.requestKey,
    clientReferenceId: record.clientReferenceId,
    refundableAmount: dollars(record.amountCents - record.refundedCents),
    // A record's history holds the statuses of its own kind only.
    history: record.history.map(({ status, at }) => ({ status: status as OriginalStatus, at })),
  };
}

function toRefundRecord(record: RefundRecord): SandboxSchemas["RefundRecord"] {
  return {
    kind: "REFUND",
    ...toRefundView(record),
    amount: dollars(record.amountCents),
    status: record.status,
    originalPaymentId: record.originalPaymentId,
    softDescriptor: record.softDescriptor,
    requestKey: record.requestKey,
    history: record.history.map(({ status, at }) => ({ paymentStatus: status as RefundStatus, at })),
  };
}

function dollars(cents: number): { currency: "USD"; value: number } {
  return { currency: "USD", value: fromCents(cents) };
}
