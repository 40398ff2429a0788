import { sql } from "kysely";
import { refundDueAt } from "../domain/business-days.ts";
import { type AnnouncedStatus, paymentEvent, toPaymentView } from "../domain/events.ts";
import { failureBy, type OriginalStatus, originalMove, statusesMovedBy } from "../domain/refunds.ts";
import { insertEvents } from "./events.ts";
import { exactTexts } from "./exact-text.ts";
import { type DebitRecord, type PaymentRecord, toDebitRecord, toPaymentRecord } from "./payment-record.ts";
import { moveRefunds } from "./refund-moves.ts";
import type { HistoryEntry, Store } from "./tables.ts";

type PaymentKey = { readonly merchant: string; readonly paymentId: string };

/** An original payment to be stored as it is elsewhere. Amount in cents. */
export type NewPayment = PaymentKey & {
  readonly status: OriginalStatus;
  readonly amountCents: number;
  readonly settledAt: Date | null;
  readonly requestKey?: string | null;
  readonly clientReferenceId?: string | null;
  /** The domain's time (D30). */
  readonly now: Date;
  /** Whether coming into its status is an event (D20); a fixture's is none. */
  readonly announced: boolean;
};

/** What became of the wish to move an original payment (D16a). */
export type MoveResult =
  | { readonly kind: "moved"; readonly payment: DebitRecord }
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
      .returning(exactTexts)
      .executeTakeFirst();
    if (!row) return undefined;
    const record = toDebitRecord(row);
    if (payment.announced) await announce(transaction, record, now);
    return record;
  });
}

/** One event for the status that an original payment has come into; none while it is processing. */
async function announce(transaction: Store, payment: DebitRecord, at: Date): Promise<void> {
  const { paymentId, merchant, status } = payment;
  if (status === "PROCESSING") return;
  const { sequence } = await transaction
    .updateTable("payments")
    .set((column) => ({ sequence: column("sequence", "+", 1) }))
    .where("payment_id", "=", paymentId)
    .where("merchant", "=", merchant)
    .returning("sequence")
    .executeTakeFirstOrThrow();
  const view = { ...toPaymentView(payment), status: status satisfies AnnouncedStatus };
  const event = paymentEvent(view, { at, sequence });
  await insertEvents(transaction, [{ ...event, merchant, resourceId: paymentId, sequence, occurredAt: at }]);
}

/** The original payment settled: its waiting refunds now know when they are due (D16). */
export async function settleOriginal(
  store: Store,
  { merchant, paymentId, settledAt, now }: PaymentKey & { settledAt: Date; now: Date },
): Promise<MoveResult> {
  return moveOriginal(store, { merchant, paymentId, to: "SETTLED", settledAt, now });
}

/** The original debit failed, before or after it settled: its refunds fail with it (D12). */
export async function failOriginal(
  store: Store,
  { merchant, paymentId, now }: PaymentKey & { now: Date },
): Promise<MoveResult> {
  return moveOriginal(store, { merchant, paymentId, to: "FAILED", now });
}

/** The original payment fell into the service's cover: its refunds fail (D12). */
export async function coverOriginal(
  store: Store,
  { merchant, paymentId, now }: PaymentKey & { now: Date },
): Promise<MoveResult> {
  return moveOriginal(store, { merchant, paymentId, to: "COVERED", now });
}

type WantedMove = PaymentKey & {
  readonly to: AnnouncedStatus;
  readonly settledAt?: Date;
  readonly now: Date;
};

/** One transaction under the lock of the original's row: its status, its event, and all that becomes of its refunds. */
async function moveOriginal(store: Store, wanted: WantedMove): Promise<MoveResult> {
  return store.transaction().execute(async (transaction) => {
    const current = await lockDebit(transaction, wanted);
    if (!current) return { kind: "not-found" };
    const move = originalMove(current.status, wanted.to);
    if (!move) return { kind: "impossible", status: current.status };

    if (wanted.settledAt) await setDue(transaction, wanted, refundDueAt(wanted.settledAt));
    const freedCents = move.refundTrigger ? await failRefunds(transaction, wanted, move.refundTrigger) : 0;
    const payment = await updateDebit(transaction, wanted, freedCents);
    await announce(transaction, payment, wanted.now);
    return { kind: "moved", payment };
  });
}

async function lockDebit(transaction: Store, { merchant, paymentId }: PaymentKey) {
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

async function updateDebit(transaction: Store, wanted: WantedMove, freedCents: number): Promise<DebitRecord> {
  const entry: HistoryEntry = { status: wanted.to, at: wanted.now.toISOString() };
  const row = await transaction
    .updateTable("payments")
    .set((column) => ({
      status: wanted.to,
      settled_at: wanted.settledAt ?? column.ref("settled_at"),
      refunded_cents: column("refunded_cents", "-", freedCents),
      history: sql<string>`history || ${JSON.stringify(entry)}::jsonb`,
    }))
    .where("payment_id", "=", wanted.paymentId)
    .where("merchant", "=", wanted.merchant)
    .returningAll()
    .returning(exactTexts)
    .executeTakeFirstOrThrow();
  return toDebitRecord(row);
}

async function setDue(transaction: Store, { merchant, paymentId }: PaymentKey, dueAt: Date): Promise<void> {
  await transaction
    .updateTable("payments")
    .set({ due_at: dueAt })
    .where("original_payment_id", "=", paymentId)
    .where("merchant", "=", merchant)
    .where("kind", "=", "REFUND")
    .where("status", "=", "PENDING")
    .execute();
}

/** Fails the refunds that have not failed yet, and returns the cents that this gives back. */
async function failRefunds(
  transaction: Store,
  { merchant, paymentId, now }: WantedMove,
  trigger: "original-failed" | "original-covered",
): Promise<number> {
  const which = sql<boolean>`original_payment_id = ${paymentId} and merchant = ${merchant}
    and status = any(${statusesMovedBy(trigger)}::text[])`;
  const outcome = { to: "TERMINAL_FAILED", at: now, failure: failureBy(trigger) } as const;
  const { amountCents } = await moveRefunds(transaction, which, outcome);
  return amountCents;
}

/** A payment or refund of this merchant. */
export async function getPayment(store: Store, key: PaymentKey): Promise<PaymentRecord | undefined> {
  const row = await store
    .selectFrom("payments")
    .selectAll()
    .select(exactTexts)
    .where("payment_id", "=", key.paymentId)
    .where("merchant", "=", key.merchant)
    .executeTakeFirst();
  return row && toPaymentRecord(row);
}
