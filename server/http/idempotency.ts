/** Idempotency: what a call gets whose `requestKey` has been used, whatever its other fields are (D09). */
import type { Schemas } from "../contract/contract-document.ts";
import { toRefundView } from "../domain/event-payloads.ts";
import { fromCents } from "../domain/money.ts";
import type { NewRefund, PaymentRecord, RefundRecord } from "../storage/payments/payment-record.ts";

/** A conflict with the record that holds the key, or 201 when that is the refund which the call itself has just saved. */
export function respondToUsedKey(existing: PaymentRecord, own: NewRefund | undefined) {
  // The connection was lost after the commit; the repeated save then found the refund's own key used.
  if (own && existing.paymentId === own.paymentId) return { status: 201, body: toRefund(own) } as const;
  return { code: "DUPLICATE_REQUEST_KEY", existing: existingRecord(existing) } as const;
}

export function toRefund({ paymentId, decision, clientReferenceId }: NewRefund): Schemas["Refund"] {
  const failure = decision.paymentStatus === "TERMINAL_FAILED" ? decision : null;
  return toRefundView({ paymentId, status: decision.paymentStatus, clientReferenceId, failure });
}

/** The record that holds the key, so that a caller can tell whether it is its own (D09). */
export function existingRecord(record: PaymentRecord): Schemas["ExistingRecord"] {
  return record.kind === "DEBIT" ? { paymentId: record.paymentId } : toExistingRefund(record);
}

function toExistingRefund(record: RefundRecord): Schemas["ExistingRecord"] {
  return {
    ...toRefundView(record),
    originalPaymentId: record.originalPaymentId,
    amount: { currency: "USD", value: fromCents(record.amountCents) },
  };
}
