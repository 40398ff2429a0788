import { type RawBuilder, sql } from "kysely";
import { refundDueAt } from "../../domain/business-days.ts";
import { paymentEvent, refundEvent, toPaymentView } from "../../domain/event-payloads.ts";
import {
  failureBy,
  type OriginalStatus,
  originalTransition,
  type RefundFailure,
  type RefundStatus,
  statusesLeftBy,
} from "../../domain/refund-rules.ts";
import type { TraceContext } from "../../domain/trace-context.ts";
import type { Db, HistoryEntry } from "../database/db-types.ts";
import { insertEvents } from "../webhooks/event-fan-out.ts";
import {
  type DebitRecord,
  isOneOf,
  PAYMENT_COLUMNS,
  type PaymentKey,
  type PaymentRow,
  type RefundRecord,
  toPaymentRecord,
} from "./payment-record.ts";
import { awaitPayout } from "./payout-feed.ts";

/** Changes an original payment, its event and its refunds in one transaction, which locks its row first (D12a). */
export async function transitionOriginal(
  db: Db,
  key: PaymentKey,
  change: OriginalChange,
): Promise<TransitionResult> {
  const { to, settledAt, now } = change;
  return db.transaction().execute(async (transaction) => {
    const current = await lockDebit(transaction, key);
    if (!current) return { kind: "not-found" };
    const transition = originalTransition(current.status, to);
    if (!transition) return { kind: "impossible", status: current.status };

    const failedRefunds = transition.refundTrigger
      ? await failRefunds(transaction, key, { now, trigger: transition.refundTrigger })
      : [];
    const payment = await updateDebit(transaction, current, change);
    // After it: only refunds of settled payments may have a due date.
    const dueAt = settledAt && refundDueAt(settledAt);
    for (const which of dueAt ? await partsOfRefunds(transaction, key, ["PENDING"]) : [])
      await sql`update payments set due_at = ${dueAt}::timestamptz where ${which}`.execute(transaction);
    await emitEvent(transaction, payment, now);
    return { kind: "changed", payment, failedRefunds };
  });
}

/** An original payment as it is at the payment system. Amount in cents. */
export type NewPayment = PaymentKey & {
  readonly status: OriginalStatus;
  readonly amountCents: number;
  readonly settledAt: Date | null;
  readonly requestKey?: string | null;
  readonly clientReferenceId?: string | null;
  /** The domain's time (D30). */
  readonly now: Date;
  /** Whether its status emits an event (D20). */
  readonly emitted: boolean;
};

/** The result of a requested transition of an original payment (D16a). */
export type TransitionResult =
  | {
      readonly kind: "changed";
      readonly payment: DebitRecord;
      readonly failedRefunds: readonly ChangedRefund[];
    }
  | { readonly kind: "not-found" }
  | { readonly kind: "impossible"; readonly status: OriginalStatus };

/**
 * Stores an original payment.
 * @returns the record, or undefined when this merchant has used the paymentId or the requestKey already
 */
export async function insertPayment(db: Db, payment: NewPayment): Promise<DebitRecord | undefined> {
  const { paymentId, merchant, status, amountCents, settledAt, now } = payment;
  const history: HistoryEntry[] = [{ status, at: now.toISOString() }];
  const { requestKey = null, clientReferenceId = null } = payment;
  return db.transaction().execute(async (transaction) => {
    const { numAffectedRows } = await sql`
      insert into payments (payment_id, merchant, kind, status, amount_cents, request_key, client_reference_id,
        settled_at, history, sequence, created_at)
      values (${paymentId}, ${merchant}, 'DEBIT', ${status}, ${amountCents}, ${requestKey}, ${clientReferenceId},
        ${settledAt}::timestamptz, ${JSON.stringify(history)}::jsonb, 0, ${now}::timestamptz)
      on conflict do nothing`.execute(transaction);
    if (numAffectedRows === 0n) return undefined;
    const facts = { paymentId, merchant, status, amountCents, settledAt, requestKey, clientReferenceId };
    const record = { ...facts, kind: "DEBIT", history, refundedCents: 0, createdAt: now } as const;
    if (payment.emitted) await emitEvent(transaction, record, now);
    return record;
  });
}

/** Writes the event of the status that an original payment has taken; none for `PROCESSING`. */
async function emitEvent(transaction: Db, payment: DebitRecord, at: Date): Promise<void> {
  const { paymentId, merchant, status } = payment;
  if (status === "PROCESSING") return;
  const { rows } = await sql<{ sequence: number }>`
    update payments set sequence = sequence + 1 where ${isOneOf(merchant, [paymentId])}
    returning sequence`.execute(transaction);
  const sequence = rows[0]?.sequence;
  if (sequence === undefined) throw new Error("the statement returned no row");
  const event = paymentEvent({ ...toPaymentView(payment), status }, { at, sequence });
  await insertEvents(transaction, merchant, [{ ...event, resourceId: paymentId, sequence, occurredAt: at }]);
}

/**
 * What happened to an original payment: it settled, so its pending refunds get their due date (D16); its debit failed, before or after
 * it settled, or the service had to cover it, so its refunds fail with it (D12).
 */
export type OriginalChange = { readonly now: Date } & (
  | { readonly to: "SETTLED"; readonly settledAt: Date }
  | { readonly to: "FAILED" | "COVERED"; readonly settledAt?: undefined }
);

/** An original payment, whose row stays locked until the transaction ends. */
export async function lockDebit(transaction: Db, { merchant, paymentId }: PaymentKey) {
  const { rows } = await sql<PaymentRow>`
    select ${PAYMENT_COLUMNS} from payments where ${isOneOf(merchant, [paymentId])} and kind = 'DEBIT'
    for update`.execute(transaction);
  return rows[0] && (toPaymentRecord(rows[0]) as DebitRecord);
}

/** When a payment fails or is covered, all its refunds have failed, so nothing counts as refunded. */
async function updateDebit(
  transaction: Db,
  current: DebitRecord,
  { to: status, now, ...change }: OriginalChange,
) {
  const settledAt = change.settledAt ?? current.settledAt;
  const history = [...current.history, { status, at: now.toISOString() }];
  const refundedCents = status === "SETTLED" ? current.refundedCents : 0;
  const sum = status === "SETTLED" ? sql`` : sql`, refunded_cents = 0`;
  await sql`
    update payments
    set status = ${status}, settled_at = ${settledAt}::timestamptz, history = ${JSON.stringify(history)}::jsonb${sum}
    where payment_id = ${current.paymentId} and merchant = ${current.merchant}`.execute(transaction);
  return { ...current, status, settledAt, history, refundedCents };
}

/** Fails the refunds that have not failed yet, and returns them. */
async function failRefunds(
  transaction: Db,
  payment: PaymentKey,
  { now, trigger }: { now: Date; trigger: "original-failed" | "original-covered" },
): Promise<ChangedRefund[]> {
  const outcome = { to: "TERMINAL_FAILED", at: now, failure: failureBy(trigger) } as const;
  const failed: ChangedRefund[] = [];
  for (const which of await partsOfRefunds(transaction, payment, statusesLeftBy(trigger)))
    failed.push(...(await transitionRefunds(transaction, payment.merchant, { which, ...outcome })));
  return failed;
}

/**
 * Conditions that together select the refunds of a payment with some statuses, each as many as one statement may change: a merchant
 * can issue any number of them. They don't change meanwhile, because the transaction has locked their payment (D12a).
 */
async function partsOfRefunds(
  transaction: Db,
  { merchant, paymentId }: PaymentKey,
  statuses: readonly RefundStatus[],
): Promise<RawBuilder<boolean>[]> {
  const { rows } = await sql<{ id: string }>`
    select payment_id as id from payments
    where original_payment_id = ${paymentId} and merchant = ${merchant}
      and status = any(${statuses}::text[])`.execute(transaction);
  const ids = rows.map(({ id }) => id);
  return toParts(ids, REFUNDS_AT_ONCE).map((part) => isOneOf(merchant, part));
}

/**
 * How many refunds to change by one statement. Each has an event, with a delivery for each of up to 100 subscriptions (D26), so
 * a statement without a limit could reach every timeout.
 */
export const REFUNDS_AT_ONCE = 200;

/** The status that refunds take, when they take it, and why. */
type RefundChange = { readonly to: RefundStatus; readonly at: Date; readonly failure: RefundFailure | null };

/** A refund whose status has changed, and the trace of the call that issued it (D33). */
export type ChangedRefund = PaymentKey & { readonly trace: TraceContext | undefined };

/**
 * Changes the status of the refunds of a merchant that a condition on `payments` selects, with their history and one event for
 * each. The transaction must hold the locks of their original payments (D12a), and the condition must select no more than
 * `REFUNDS_AT_ONCE`, and only those whose status has such a transition.
 * @returns the refunds that changed
 */
export async function transitionRefunds(
  transaction: Db,
  merchant: string,
  { which, to, at, failure }: RefundChange & { readonly which: RawBuilder<boolean> },
): Promise<ChangedRefund[]> {
  const entry: HistoryEntry = { status: to, at: at.toISOString() };
  // Only if there is one: the role of a server may authorize refunds, and has no right to make them fail.
  const reason = failure && sql`error_code = ${failure.errorCode}, error_message = ${failure.errorMessage},`;
  const { rows: changed } = await sql<{ payment_id: string }>`
    update payments
    set status = ${to}, ${reason ?? sql``}
      history = history || ${JSON.stringify(entry)}::jsonb, sequence = sequence + 1
    where kind = 'REFUND' and merchant = ${merchant} and ${which}
    returning payment_id`.execute(transaction);
  if (changed.length === 0) return [];
  const paymentIds = changed.map((row) => row.payment_id);
  if (to === "AUTHORIZED") await awaitPayout(transaction, { merchant, paymentIds, authorizedAt: at });

  // The first event has the trace of the call. `limit` stops PostgreSQL from a plan that reads all events, which it would make
  // while there are few, and keep.
  const { rows } = await sql<RefundRecord & { sequence: number; trace: TraceContext | null }>`
    select ${PAYMENT_COLUMNS}, payments.sequence, event.trace
    from payments left join lateral (
      select trace from events
      where resource_id = payments.payment_id and merchant = ${merchant} and split_part(type, '.', 1) = 'refund'
        and sequence = 1 and trace is not null
      limit 1
    ) as event on true
    where ${isOneOf(merchant, paymentIds)}`.execute(transaction);
  const events = rows.map(({ sequence, trace, ...refund }) => {
    const event = refundEvent({ ...refund, status: to, failure }, { at, sequence });
    return { ...event, resourceId: refund.paymentId, sequence, occurredAt: at, trace: trace ?? undefined };
  });
  await insertEvents(transaction, merchant, events);
  return events.map(({ resourceId: paymentId, trace }) => ({ paymentId, merchant, trace }));
}

export function toParts<Item>(items: readonly Item[], size: number): Item[][] {
  const count = Math.ceil(items.length / size);
  return Array.from({ length: count }, (_, part) => items.slice(part * size, (part + 1) * size));
}
