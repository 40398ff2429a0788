import { toDomainTime } from "../../domain/clock.ts";
import { toRefundView } from "../../domain/events.ts";
import { createRefundId } from "../../domain/ids.ts";
import { fromCents, toCents } from "../../domain/money.ts";
import { firstStatus, type Original } from "../../domain/refunds.ts";
import type { Bound } from "../../storage/bind.ts";
import type { PaymentRecord, RefundRecord } from "../../storage/payment-record.ts";
import type { findByRequestKey, loadOriginal, NewRefund, saveRefund } from "../../storage/refunds.ts";
import { unavailable } from "../errors.ts";
import type { Call, Handler, Reply } from "../operations.ts";
import type { Schemas } from "../schemas.ts";

/** What issuing a refund needs of the store. */
export type RefundStore = Bound<{
  loadOriginal: typeof loadOriginal;
  saveRefund: typeof saveRefund;
  findByRequestKey: typeof findByRequestKey;
}>;

/** A payment that changes under this many decisions in a row is being changed by more callers than can be served. */
const MAX_DECISIONS = 20;

/**
 * Issues a refund: 201 in every status, 409 for a used requestKey, 404 for a payment the merchant does not have. Throws
 * `UNAVAILABLE` when the payment changes faster than a decision about it can be saved.
 */
export function issueRefund(store: RefundStore, realNow: () => Date): Handler<"issueRefund"> {
  return async (call) => {
    for (let decisions = 0; decisions < MAX_DECISIONS; decisions += 1) {
      const { original, clockOffsetMs } = await store.loadOriginal({
        merchant: call.merchant,
        paymentId: call.body.paymentId,
      });
      const refund = original && decide(call, original, toDomainTime(realNow(), clockOffsetMs));
      if (refund && (await store.saveRefund(refund))) return { status: 201, body: toRefund(refund) };

      const existing = await store.findByRequestKey({
        merchant: call.merchant,
        requestKey: call.body.requestKey,
      });
      if (existing) return { code: "DUPLICATE_REQUEST_KEY", existing: existingRecord(existing) };
      if (!refund) return notFound();
      // The payment changed between load and save, so the decision is made again on what it is now.
    }
    throw unavailable(new Error(`the payment changed under ${MAX_DECISIONS} decisions in a row`));
  };
}

function decide({ merchant, body }: Call<"issueRefund">, original: Original, now: Date): NewRefund {
  const amountCents = toCents(body.amount.value);
  return {
    paymentId: createRefundId(),
    merchant,
    original,
    decision: firstStatus(original, amountCents, now),
    amountCents,
    requestKey: body.requestKey,
    clientReferenceId: body.clientReferenceId ?? body.clientRefefenceId ?? null,
    softDescriptor: body.softDescriptor ?? null,
    now,
  };
}

/** The same for a payment that does not exist and for another merchant's (D08). */
function notFound(): Reply<"issueRefund"> {
  return {
    code: "NOT_FOUND",
    detail: "You have no payment with this paymentId. Check the identifier and the access token.",
  };
}

function toRefund({ paymentId, decision, clientReferenceId }: NewRefund): Schemas["Refund"] {
  const failure = decision.paymentStatus === "TERMINAL_FAILED" ? decision : null;
  return toRefundView({ paymentId, status: decision.paymentStatus, clientReferenceId, failure });
}

/** What a caller needs to tell whether the record that holds the key is its own (D09). */
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
