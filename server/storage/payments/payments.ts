import { type RawBuilder, sql } from "kysely";
import { refundDueAt } from "../../domain/business-days.ts";
import { type EmittedStatus, paymentEvent, toPaymentView } from "../../domain/events.ts";
import {
  failureBy,
  type OriginalStatus,
  originalTransition,
  type RefundStatus,
  statusesLeftBy,
} from "../../domain/refunds.ts";
import type { Db, HistoryEntry } from "../database/tables.ts";
import { insertEvents } from "../webhooks/events.ts";
import {
  type DebitRecord,
  exactTexts,
  isOneOf,
  type PaymentKey,
  type PaymentRow,
  toDebitRecord,
} from "./payment-record.ts";
import { type ChangedRefund, REFUNDS_AT_ONCE, toParts, transitionRefunds } from "./transitions.ts";

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
 *
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

/** The original payment settled: its pending refunds get their due date (D16). */
export async function settleOriginal(
  db: Db,
  { merchant, paymentId, settledAt, now }: PaymentKey & { settledAt: Date; now: Date },
): Promise<TransitionResult> {
  return transitionOriginal(db, { merchant, paymentId, to: "SETTLED", settledAt, now });
}

/** The original debit failed, before or after it settled: its refunds fail with it (D12). */
export async function failOriginal(
  db: Db,
  { merchant, paymentId, now }: PaymentKey & { now: Date },
): Promise<TransitionResult> {
  return transitionOriginal(db, { merchant, paymentId, to: "FAILED", now });
}

/** The service had to cover the original payment: its refunds fail (D12). */
export async function coverOriginal(
  db: Db,
  { merchant, paymentId, now }: PaymentKey & { now: Date },
): Promise<TransitionResult> {
  return transitionOriginal(db, { merchant, paymentId, to: "COVERED", now });
}

type TransitionRequest = PaymentKey & {
  readonly to: EmittedStatus;
  readonly settledAt?: Date;
  readonly now: Date;
};

/** Changes an original payment, its event and its refunds in one transaction, which locks its row first (D12a). */
async function transitionOriginal(db: Db, request: TransitionRequest): Promise<TransitionResult> {
  return db.transaction().execute(async (transaction) => {
    const current = await lockDebit(transaction, request);
    if (!current) return { kind: "not-found" };
    const transition = originalTransition(current.status, request.to);
    if (!transition) return { kind: "impossible", status: current.status };

    const failedRefunds = transition.refundTrigger
      ? await failRefunds(transaction, request, transition.refundTrigger)
      : [];
    const payment = await updateDebit(transaction, current, request);
    // After it: only refunds of settled payments may have a due date.
    if (request.settledAt) await setDue(transaction, request, refundDueAt(request.settledAt));
    await emitEvent(transaction, payment, request.now);
    return { kind: "changed", payment, failedRefunds };
  });
}

/** An original payment, whose row stays locked until the transaction ends. */
export async function lockDebit(transaction: Db, { merchant, paymentId }: PaymentKey) {
  const { rows } = await sql<PaymentRow>`
    select payments.*, ${sql.join(exactTexts)} from payments
    where payment_id = ${paymentId} and merchant = ${merchant} and kind = 'DEBIT' for update`.execute(
    transaction,
  );
  return rows[0] && toDebitRecord(rows[0]);
}

/** When a payment fails or is covered, all its refunds have failed, so nothing counts as refunded. */
async function updateDebit(
  transaction: Db,
  current: DebitRecord,
  request: TransitionRequest,
): Promise<DebitRecord> {
  const { to: status, now } = request;
  const settledAt = request.settledAt ?? current.settledAt;
  const history = [...current.history, { status, at: now.toISOString() }];
  const refundedCents = status === "SETTLED" ? current.refundedCents : 0;
  const sum = status === "SETTLED" ? sql`` : sql`, refunded_cents = 0`;
  await sql`
    update payments
    set status = ${status}, settled_at = ${settledAt}::timestamptz, history = ${JSON.stringify(history)}::jsonb${sum}
    where payment_id = ${current.paymentId} and merchant = ${current.merchant}`.execute(transaction);
  return { ...current, status, settledAt, history, refundedCents };
}

async function setDue(transaction: Db, payment: PaymentKey, dueAt: Date): Promise<void> {
  for (const which of await partsOfRefunds(transaction, payment, ["PENDING"]))
    await sql`update payments set due_at = ${dueAt}::timestamptz where ${which}`.execute(transaction);
}

/** Fails the refunds that have not failed yet, and returns them. */
async function failRefunds(
  transaction: Db,
  payment: TransitionRequest,
  trigger: "original-failed" | "original-covered",
): Promise<ChangedRefund[]> {
  const outcome = { to: "TERMINAL_FAILED", at: payment.now, failure: failureBy(trigger) } as const;
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
    where original_payment_id = ${paymentId} and merchant = ${merchant} and status = any(${statuses}::text[])`.execute(
    transaction,
  );
  const ids = rows.map(({ id }) => id);
  return toParts(ids, REFUNDS_AT_ONCE).map((some) => isOneOf(merchant, some));
}
