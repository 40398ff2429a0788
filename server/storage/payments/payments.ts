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
import type { HistoryEntry, Store } from "../database/tables.ts";
import {
  type DebitRecord,
  exactTexts,
  type PaymentKey,
  toDebitRecord,
} from "../statements/payment-record.ts";
import { insertEvents, statementsOf } from "../statements/statements.ts";
import { type ChangedRefund, REFUNDS_AT_ONCE, toParts, transitionRefunds } from "./refund-transitions.ts";

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
export async function insertPayment(store: Store, payment: NewPayment): Promise<DebitRecord | undefined> {
  const { paymentId, merchant, status, amountCents, settledAt, now } = payment;
  const history: HistoryEntry[] = [{ status, at: now.toISOString() }];
  return store.transaction().execute(async (transaction) => {
    const row = await transaction
      .insertInto("payments")
      .values({
        payment_id: paymentId,
        merchant,
        kind: "DEBIT",
        status,
        amount_cents: amountCents,
        request_key: payment.requestKey ?? null,
        client_reference_id: payment.clientReferenceId ?? null,
        settled_at: settledAt,
        history: JSON.stringify(history),
        sequence: 0,
        created_at: now,
      })
      .onConflict((conflict) => conflict.doNothing())
      .returningAll()
      .returning(statementsOf(transaction).returnedTexts)
      .executeTakeFirst();
    if (!row) return undefined;
    const record = toDebitRecord(row);
    if (payment.emitted) await emitEvent(transaction, record, now);
    return record;
  });
}

/** Writes the event of the status that an original payment has taken; none for `PROCESSING`. */
async function emitEvent(transaction: Store, payment: DebitRecord, at: Date): Promise<void> {
  const { paymentId, merchant, status } = payment;
  if (status === "PROCESSING") return;
  const { sequence } = await transaction
    .updateTable("payments")
    .set((column) => ({ sequence: column("sequence", "+", 1) }))
    .where("payment_id", "=", paymentId)
    .where("merchant", "=", merchant)
    .returning("sequence")
    .executeTakeFirstOrThrow();
  const view = { ...toPaymentView(payment), status: status satisfies EmittedStatus };
  const event = paymentEvent(view, { at, sequence });
  await insertEvents(transaction, [{ ...event, merchant, resourceId: paymentId, sequence, occurredAt: at }]);
}

/** The original payment settled: its pending refunds get their due date (D16). */
export async function settleOriginal(
  store: Store,
  { merchant, paymentId, settledAt, now }: PaymentKey & { settledAt: Date; now: Date },
): Promise<TransitionResult> {
  return transitionOriginal(store, { merchant, paymentId, to: "SETTLED", settledAt, now });
}

/** The original debit failed, before or after it settled: its refunds fail with it (D12). */
export async function failOriginal(
  store: Store,
  { merchant, paymentId, now }: PaymentKey & { now: Date },
): Promise<TransitionResult> {
  return transitionOriginal(store, { merchant, paymentId, to: "FAILED", now });
}

/** The service had to cover the original payment: its refunds fail (D12). */
export async function coverOriginal(
  store: Store,
  { merchant, paymentId, now }: PaymentKey & { now: Date },
): Promise<TransitionResult> {
  return transitionOriginal(store, { merchant, paymentId, to: "COVERED", now });
}

type TransitionRequest = PaymentKey & {
  readonly to: EmittedStatus;
  readonly settledAt?: Date;
  readonly now: Date;
};

/** Changes an original payment, its event and its refunds in one transaction, which locks its row first (D12a). */
async function transitionOriginal(store: Store, request: TransitionRequest): Promise<TransitionResult> {
  return store.transaction().execute(async (transaction) => {
    const current = await lockDebit(transaction, request);
    if (!current) return { kind: "not-found" };
    const transition = originalTransition(current.status, request.to);
    if (!transition) return { kind: "impossible", status: current.status };

    const failedRefunds = transition.refundTrigger
      ? await failRefunds(transaction, request, transition.refundTrigger)
      : [];
    const payment = await updateDebit(transaction, request);
    // After it: only refunds of settled payments may have a due date.
    if (request.settledAt) await setDue(transaction, request, refundDueAt(request.settledAt));
    await emitEvent(transaction, payment, request.now);
    return { kind: "changed", payment, failedRefunds };
  });
}

/** An original payment, whose row stays locked until the transaction ends. */
export async function lockDebit(transaction: Store, { merchant, paymentId }: PaymentKey) {
  const row = await transaction
    .selectFrom("payments")
    .selectAll()
    .select(exactTexts)
    .where("payment_id", "=", paymentId)
    .where("merchant", "=", merchant)
    .where("kind", "=", "DEBIT")
    .forUpdate()
    .executeTakeFirst();
  return row && toDebitRecord(row);
}

/** When a payment fails or is covered, all its refunds have failed, so nothing counts as refunded. */
async function updateDebit(transaction: Store, request: TransitionRequest): Promise<DebitRecord> {
  const entry: HistoryEntry = { status: request.to, at: request.now.toISOString() };
  const row = await transaction
    .updateTable("payments")
    .set((column) => ({
      status: request.to,
      settled_at: request.settledAt ?? column.ref("settled_at"),
      refunded_cents: request.to === "SETTLED" ? column.ref("refunded_cents") : 0,
      history: sql<string>`history || ${JSON.stringify(entry)}::jsonb`,
    }))
    .where("payment_id", "=", request.paymentId)
    .where("merchant", "=", request.merchant)
    .returningAll()
    .returning(statementsOf(transaction).returnedTexts)
    .executeTakeFirstOrThrow();
  return toDebitRecord(row);
}

async function setDue(transaction: Store, payment: PaymentKey, dueAt: Date): Promise<void> {
  for (const which of await partsOfRefunds(transaction, payment, ["PENDING"]))
    await transaction.updateTable("payments").set({ due_at: dueAt }).where(which).execute();
}

/** Fails the refunds that have not failed yet, and returns them. */
async function failRefunds(
  transaction: Store,
  request: TransitionRequest,
  trigger: "original-failed" | "original-covered",
): Promise<ChangedRefund[]> {
  const outcome = { to: "TERMINAL_FAILED", at: request.now, failure: failureBy(trigger) } as const;
  const failed: ChangedRefund[] = [];
  for (const which of await partsOfRefunds(transaction, request, statusesLeftBy(trigger)))
    failed.push(...(await transitionRefunds(transaction, which, outcome)));
  return failed;
}

/**
 * Conditions that together select the refunds of a payment with some statuses, each as many as one statement may change: a merchant
 * can issue any number of them. They don't change meanwhile, because the transaction has locked their payment (D12a).
 */
async function partsOfRefunds(
  transaction: Store,
  { merchant, paymentId }: PaymentKey,
  statuses: readonly RefundStatus[],
): Promise<RawBuilder<boolean>[]> {
  const refunds = await transaction
    .selectFrom("payments")
    .select(["payment_id as paymentId", "merchant"])
    .where("original_payment_id", "=", paymentId)
    .where("merchant", "=", merchant)
    .where("status", "in", statuses)
    .execute();
  return toParts(refunds, REFUNDS_AT_ONCE).map((some) => statementsOf(transaction).isOneOf(some));
}
