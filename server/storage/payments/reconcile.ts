import { sql } from "kysely";
import { refundEvent } from "../../domain/event-payloads.ts";
import { fromCents } from "../../domain/money.ts";
import { failureBy, isRefundable, type RefundFailure } from "../../domain/refund-rules.ts";
import type { Db, HistoryEntry } from "../database/db-types.ts";
import { insertEvents } from "../webhooks/event-fan-out.ts";
import { isHeld } from "./holds.ts";
import { lockDebit, transitionRefunds } from "./original-transitions.ts";
import {
  type DebitRecord,
  findByRequestKey,
  getPayment,
  isOneOf,
  type PaymentKey,
  type PaymentRecord,
  type RefundRecord,
} from "./payment-record.ts";

/**
 * Makes the database agree with what the payment system knows of a refund, as after a restore: it must never be paid again, and
 * its requestKey must be found used. All in one transaction, which locks the original payment first (D12a). Repeating it changes
 * nothing.
 * @param now the domain's time (D30)
 */
export async function reconcileRefund(db: Db, refund: KnownRefund, now: Date): Promise<Reconciled> {
  return db.transaction().execute((transaction) => reconcileIn(transaction, refund, now));
}

/** A refund as the payment system knows it. Amount in cents. */
export type KnownRefund = PaymentKey & {
  readonly requestKey: string;
  readonly originalPaymentId: string;
  readonly amountCents: number;
  readonly status: "AUTHORIZED" | "TERMINAL_FAILED";
  readonly clientReferenceId: string | null;
  readonly softDescriptor: string | null;
  readonly authorizedAt: Date;
};

/**
 * The result for a refund of the payment system: it was `inserted`; or it was here, and won't be paid again (`kept`); or another
 * refund has its requestKey now, and won't be paid (`keptAs`); or nothing changed, because the records agree (`unchanged`) or for
 * the reason that is given.
 */
export type Reconciled =
  | "inserted"
  | "kept"
  | "unchanged"
  | { readonly keptAs: string }
  | { readonly differs: string }
  | { readonly error: string };

/** The same in a transaction that the caller commits. */
export async function reconcileIn(transaction: Db, refund: KnownRefund, now: Date): Promise<Reconciled> {
  const original = await lockDebit(transaction, { ...refund, paymentId: refund.originalPaymentId });
  if (!original) return { error: "originalPaymentId names no payment of this merchant; import it first" };
  const existing = await getPayment(transaction, refund);
  const changes = { transaction, refund, original, now };
  if (existing) return reconcileExisting(changes, existing);
  const holder = await findByRequestKey(transaction, refund);
  return holder ? reconcileHolder(changes, holder) : insertMissing(changes);
}

type Changes = {
  readonly transaction: Db;
  readonly refund: KnownRefund;
  readonly original: DebitRecord;
  readonly now: Date;
};

async function reconcileExisting(changes: Changes, existing: PaymentRecord): Promise<Reconciled> {
  const { transaction, refund, now } = changes;
  if (existing.kind === "DEBIT") return { differs: "paymentId is an original payment here" };
  const differences = compare(refund, existing);
  if (differences.length > 0) return { differs: differences.join(", ") };
  if (existing.status === "TERMINAL_FAILED" && refund.status === "TERMINAL_FAILED") return "unchanged";
  const isBehind = existing.status === "PENDING" && refund.status === "AUTHORIZED";
  if (existing.status !== refund.status && !isBehind) return { differs: `status is ${existing.status} here` };
  const obstacle = isBehind ? obstacleTo(changes) : undefined;
  if (obstacle) return obstacle;
  if (await readPayout(transaction, refund)) return "unchanged";
  const unheld = await requireHold(changes);
  if (unheld) return unheld;
  await markPaid(transaction, refund, refund.paymentId);
  if (isBehind) {
    const change = { to: "AUTHORIZED", at: now, failure: null } as const;
    const which = isOneOf(refund.merchant, [refund.paymentId]);
    await transitionRefunds(transaction, refund.merchant, { which, ...change });
  }
  return "kept";
}

/**
 * Another refund has had the requestKey since the restore. To the merchant both are one refund, so what was paid before the restore
 * counts as the payment of that other one.
 */
async function reconcileHolder(changes: Changes, holder: PaymentRecord): Promise<Reconciled> {
  const { transaction, refund } = changes;
  const name = `requestKey is that of ${holder.paymentId} here`;
  const isSame = holder.kind === "REFUND" && compare(refund, holder).length === 0;
  if (!isSame || holder.status === "TERMINAL_FAILED" || refund.status === "TERMINAL_FAILED")
    return { differs: `${name}, whose ${isSame ? "status" : "payment or amount"} is another` };
  const paid = await readPayout(transaction, holder);
  if (paid?.paid_as === refund.paymentId) return "unchanged";
  if (paid) return { differs: `${name}, which was given to the payment system as well` };
  const unheld = await requireHold(changes);
  if (unheld) return unheld;
  await markPaid(transaction, holder, refund.paymentId);
  return { keptAs: holder.paymentId };
}

/** How the fields of the refund differ here. */
function compare(refund: KnownRefund, existing: RefundRecord): string[] {
  const { requestKey, originalPaymentId, amountCents } = existing;
  return [
    ...(requestKey === refund.requestKey ? [] : [`requestKey is ${JSON.stringify(requestKey)} here`]),
    ...(originalPaymentId === refund.originalPaymentId
      ? []
      : [`originalPaymentId is ${originalPaymentId} here`]),
    ...(amountCents === refund.amountCents ? [] : [`amount.value is ${fromCents(amountCents)} here`]),
  ];
}

/** Why the original payment, as it is known here, doesn't allow the refund's status. */
function obstacleTo({ refund, original }: Changes): { differs: string } | undefined {
  const isFailed = original.status === "FAILED" || original.status === "COVERED";
  const fits = refund.status === "AUTHORIZED" ? original.status === "SETTLED" : isFailed;
  if (fits) return undefined;
  return {
    differs: `status can't be ${refund.status}, because the original payment is ${original.status} here`,
  };
}

async function insertMissing(changes: Changes): Promise<Reconciled> {
  const { transaction, refund, original } = changes;
  const isAuthorized = refund.status === "AUTHORIZED";
  const obstacle = obstacleTo(changes);
  if (obstacle) return obstacle;
  if (isAuthorized && !isRefundable(original, refund.amountCents)) {
    const left = fromCents(original.amountCents - original.refundedCents);
    return { differs: `amount.value is more than the ${left} that are left of the original payment here` };
  }
  const unheld = await requireHold(changes);
  if (unheld) return unheld;
  await insertRefund(changes);
  if (isAuthorized) await markPaid(transaction, refund, refund.paymentId);
  return "inserted";
}

/** The highest number that the event of a status can have: receivers ignore an event with a number that they have seen. */
const SEQUENCE = { AUTHORIZED: 2, TERMINAL_FAILED: 3 } as const;

async function insertRefund({ transaction, refund, original, now }: Changes): Promise<void> {
  const { merchant, paymentId, status, clientReferenceId, authorizedAt } = refund;
  const trigger = original.status === "COVERED" ? "original-covered" : "original-failed";
  const failure: RefundFailure | null = status === "AUTHORIZED" ? null : failureBy(trigger);
  const history: HistoryEntry[] = [{ status: "AUTHORIZED", at: authorizedAt.toISOString() }];
  if (failure) history.push({ status, at: now.toISOString() });
  const sequence = SEQUENCE[status];
  const at = failure ? now : authorizedAt;
  await sql`
    insert into payments (payment_id, merchant, kind, status, amount_cents, request_key, client_reference_id,
      soft_descriptor, original_payment_id, error_code, error_message, history, sequence, created_at)
    values (${paymentId}, ${merchant}, 'REFUND', ${status}, ${refund.amountCents}, ${refund.requestKey}, ${clientReferenceId},
      ${refund.softDescriptor}, ${original.paymentId}, ${failure?.errorCode ?? null}, ${failure?.errorMessage ?? null},
      ${JSON.stringify(history)}::jsonb, ${sequence}, ${authorizedAt}::timestamptz)`.execute(transaction);
  const event = refundEvent({ ...refund, originalPaymentId: original.paymentId, failure }, { at, sequence });
  await insertEvents(transaction, merchant, [{ ...event, resourceId: paymentId, sequence, occurredAt: at }]);
}

async function readPayout(transaction: Db, { merchant, paymentId }: PaymentKey) {
  const { rows } = await sql<{ paid_as: string | null }>`
    select paid_as from payouts where payment_id = ${paymentId}
      and merchant = ${merchant}`.execute(transaction);
  return rows[0];
}

async function markPaid(transaction: Db, { merchant, paymentId }: PaymentKey, paidAs: string) {
  await sql`
    insert into payouts (payment_id, merchant, paid_as) values (${paymentId}, ${merchant}, ${paidAs})`.execute(
    transaction,
  );
}

/** Refunds of a merchant who is not held could be paid in the middle of it. */
async function requireHold({ transaction, refund }: Changes): Promise<{ error: string } | undefined> {
  const { rows } = await sql`select where ${isHeld(sql`${refund.merchant}::text`)}`.execute(transaction);
  if (rows.length > 0) return undefined;
  return { error: "its merchant's refunds must be held while they are changed; run hold first" };
}
