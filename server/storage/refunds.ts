import { sql } from "kysely";
import { categoryOf, refundEvent, toRefundView } from "../domain/events.ts";
import { createEventId } from "../domain/ids.ts";
import { type FirstStatus, isRefundable, type Original } from "../domain/refunds.ts";
import { writeDeliveries } from "./deliveries.ts";
import { exactTexts } from "./exact-text.ts";
import { type OriginalRow, type PaymentRecord, toOriginal, toPaymentRecord } from "./payment-record.ts";
import type { HistoryEntry, Store } from "./tables.ts";

/** A refund as decided, with what the decision was made on. */
export type NewRefund = {
  readonly paymentId: string;
  readonly merchant: string;
  /** The original payment exactly as `loadOriginal` gave it to the decision. */
  readonly original: Original;
  readonly decision: FirstStatus;
  readonly amountCents: number;
  readonly requestKey: string;
  readonly clientReferenceId: string | null;
  readonly softDescriptor: string | null;
  /** The domain's time of the decision (D30). */
  readonly now: Date;
};

/** What a refund is decided on: the payment, if this merchant has it, and the clock's offset (ms), by one statement. */
export async function loadOriginal(
  store: Store,
  { merchant, paymentId }: { merchant: string; paymentId: string },
): Promise<{ original: Original | undefined; clockOffsetMs: number }> {
  const { rows } = await sql<OriginalRow & { found: boolean; offset_ms: number | null }>`
    select p.payment_id is not null as found, p.payment_id, p.kind, p.status, p.amount_cents, p.refunded_cents,
      p.settled_at, (select offset_ms from clock) as offset_ms
    from (select) as always
    left join payments p on p.payment_id = ${paymentId} and p.merchant = ${merchant}`.execute(store);

  const row = rows[0];
  return { original: row?.found ? toOriginal(row) : undefined, clockOffsetMs: row?.offset_ms ?? 0 };
}

/**
 * Saves a refund, its part of the original's `refunded_cents`, its event and the deliveries of that, all by one
 * statement, if the decision still holds and the requestKey is unused.
 *
 * The original's row is locked first (D12a). When that had to wait for a rival, PostgreSQL checks the guard once more on
 * the row that the rival left, and the update below adds to that row too: nobody can come in between.
 *
 * @returns false when nothing was saved: the key is used (`findByRequestKey` tells), or the decision must be made again
 */
export async function saveRefund(store: Store, refund: NewRefund): Promise<boolean> {
  const { paymentId, merchant, original, decision, amountCents, requestKey, clientReferenceId, now } = refund;
  const status = decision.paymentStatus;
  const failure = decision.paymentStatus === "TERMINAL_FAILED" ? decision : null;
  const dueAt = decision.paymentStatus === "PENDING" ? decision.dueAt : null;
  const history: HistoryEntry[] = [{ status, at: now.toISOString() }];
  const view = toRefundView({ paymentId, status, clientReferenceId, failure });
  const event = refundEvent(view, { at: now, sequence: 1 });

  const { rows } = await sql<{ saved: number }>`
    with original as (
      select payment_id from payments
      where payment_id = ${original.paymentId} and merchant = ${merchant}
        and kind = ${original.kind} and status = ${original.status}
        and settled_at is not distinct from ${original.settledAt}::timestamptz
        and (refunded_cents + ${amountCents}::bigint <= amount_cents) = ${isRefundable(original, amountCents)}::boolean
      for update
    ), refund as (
      insert into payments (payment_id, merchant, kind, status, amount_cents, request_key, client_reference_id,
        soft_descriptor, original_payment_id, due_at, error_code, error_message, history, sequence, created_at)
      select ${paymentId}::text, ${merchant}::text, 'REFUND', ${status}::text, ${amountCents}::bigint,
        ${requestKey}::text, ${clientReferenceId}::text, ${refund.softDescriptor}::text, original.payment_id,
        ${dueAt}::timestamptz, ${failure?.errorCode ?? null}::text, ${failure?.errorMessage ?? null}::text,
        ${JSON.stringify(history)}::jsonb, 1, ${now}::timestamptz
      from original
      on conflict (request_key, merchant) do nothing
      returning payment_id, merchant, status, amount_cents, original_payment_id, sequence, created_at
    ), reserved as (
      update payments p set refunded_cents = p.refunded_cents + refund.amount_cents
      from refund
      where p.payment_id = refund.original_payment_id and p.merchant = refund.merchant
        and refund.status <> 'TERMINAL_FAILED'
    ), event as (
      insert into events (event_id, merchant, type, resource_id, sequence, occurred_at, payload)
      select ${createEventId()}::text, merchant, ${event.type}::text, payment_id, sequence, created_at,
        ${event.payload}::text
      from refund
      returning event_id, merchant, type, occurred_at
    ), ${writeDeliveries(sql`(select event.*, ${categoryOf(event.type)}::text as category from event)`)}
    select count(*)::integer as saved, (select count(*) from notified) as woken from refund`.execute(store);
  return rows[0]?.saved === 1;
}

/** The payment or refund that used up a requestKey of this merchant (D10). */
export async function findByRequestKey(
  store: Store,
  { merchant, requestKey }: { merchant: string; requestKey: string },
): Promise<PaymentRecord | undefined> {
  const row = await store
    .selectFrom("payments")
    .selectAll()
    .select(exactTexts)
    .where("request_key", "=", requestKey)
    .where("merchant", "=", merchant)
    .executeTakeFirst();
  return row && toPaymentRecord(row);
}
