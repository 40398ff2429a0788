import type { CallerIdentity } from "../../domain/caller-identity.ts";
import { categoryOf, refundEvent } from "../../domain/events.ts";
import { createEventId } from "../../domain/ids.ts";
import { type FirstStatus, isRefundable, type Original } from "../../domain/refunds.ts";
import type { TraceContext } from "../../domain/trace-context.ts";
import type { HistoryEntry } from "../database/tables.ts";

/** A refund as decided, with the original payment on which the decision was made. */
export type NewRefund = {
  readonly paymentId: string;
  readonly merchant: string;
  /** The original payment exactly as `loadOriginals` returned it. */
  readonly original: Original;
  readonly decision: FirstStatus;
  readonly amountCents: number;
  readonly requestKey: string;
  readonly clientReferenceId: string | null;
  readonly softDescriptor: string | null;
  /** Kept with the refund's first event, so that it is removed and erased with it. */
  readonly caller?: CallerIdentity;
  /** Kept with each event of the refund (D33). */
  readonly trace?: TraceContext | undefined;
  /** The domain's time of the decision (D30). */
  readonly now: Date;
};

/** The data on which a refund is decided. */
export type LoadedOriginal = {
  /** The payment that it names, if its merchant has it. */
  readonly original: Original | undefined;
  /** The clock's offset in milliseconds. */
  readonly clockOffsetMs: number;
  /** Whether refunds of the merchant are held. */
  readonly held: boolean;
};

/** The same for all events of refunds. */
export const EVENT_CATEGORY = categoryOf("refund.pending");

/** One refund of a statement, as `json_to_recordset` reads it. */
type RefundRow = Record<
  string,
  string | number | boolean | null | readonly HistoryEntry[] | CallerIdentity | TraceContext
>;

export function toRefundRows(refunds: readonly NewRefund[]): RefundRow[] {
  const centsBefore = new Map<string, number>();
  return refunds.map((refund, position) => {
    const { original, decision, merchant, amountCents } = refund;
    const key = JSON.stringify([merchant, original.paymentId]);
    const cents_before = centsBefore.get(key) ?? 0;
    if (decision.paymentStatus !== "TERMINAL_FAILED") centsBefore.set(key, cents_before + amountCents);
    return { position, ...toRow(refund), cents_before };
  });
}

function toRow(refund: NewRefund): RefundRow {
  const { paymentId, merchant, original, decision, amountCents, requestKey, clientReferenceId, now } = refund;
  const status = decision.paymentStatus;
  const failure = decision.paymentStatus === "TERMINAL_FAILED" ? decision : null;
  const dueAt = decision.paymentStatus === "PENDING" ? decision.dueAt : null;
  const facts = {
    paymentId,
    status,
    clientReferenceId,
    originalPaymentId: original.paymentId,
    amountCents,
    requestKey,
  };
  const event = refundEvent({ ...facts, failure }, { at: now, sequence: 1 });
  return {
    payment_id: paymentId,
    merchant,
    status,
    amount_cents: amountCents,
    request_key: requestKey,
    client_reference_id: clientReferenceId,
    soft_descriptor: refund.softDescriptor,
    due_at: dueAt?.toISOString() ?? null,
    error_code: failure?.errorCode ?? null,
    error_message: failure?.errorMessage ?? null,
    history: [{ status, at: now.toISOString() }],
    created_at: now.toISOString(),
    original_payment_id: original.paymentId,
    original_kind: original.kind,
    original_status: original.status,
    original_settled_at: original.settledAt?.toISOString() ?? null,
    refundable: isRefundable(original, amountCents),
    event_id: createEventId(),
    event_type: event.type,
    event_payload: event.payload,
    caller: refund.caller ?? null,
    trace: refund.trace ?? null,
  };
}
