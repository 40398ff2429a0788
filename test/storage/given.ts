import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { createPaymentId, createRefundId } from "../../server/domain/ids.ts";
import { firstStatus } from "../../server/domain/refunds.ts";
import type { DebitRecord, PaymentRecord, RefundRecord } from "../../server/storage/payment-record.ts";
import { getPayment, insertPayment, type NewPayment } from "../../server/storage/payments.ts";
import { findByRequestKey, loadOriginal, type NewRefund, saveRefund } from "../../server/storage/refunds.ts";
import type { Store } from "../../server/storage/tables.ts";

/** A Monday, 10:00 in New York. */
export const NOW = new Date("2026-11-16T15:00:00.000Z");
/** Long enough before, for a refund to be authorised at once. */
export const LONG_AGO = new Date("2026-10-01T15:00:00.000Z");
/** Three business days after NOW and later. */
export const LATER = new Date("2026-11-30T15:00:00.000Z");

/** A merchant that no other test has. */
export function newMerchant(): string {
  return `merchant_${randomUUID()}`;
}

/** An original payment of 100.00 that settled at NOW, unless said otherwise; no event. */
export async function givenPayment(
  store: Store,
  payment: Partial<NewPayment> & { merchant: string },
): Promise<DebitRecord> {
  const record = await insertPayment(store, {
    paymentId: createPaymentId(),
    status: "SETTLED",
    amountCents: 100_00,
    settledAt: payment.status === "PROCESSING" ? null : NOW,
    now: NOW,
    announced: false,
    ...payment,
  });
  if (!record) throw new Error("the payment exists already");
  return record;
}

type PaymentKey = { readonly merchant: string; readonly paymentId: string };

type Wish = {
  amountCents?: number;
  requestKey?: string;
  clientReferenceId?: string;
  now?: Date;
};

/** A refund of 10.00, unless said otherwise, as decided on what is stored now and not yet saved. */
export async function decideRefund(
  store: Store,
  { merchant, paymentId }: PaymentKey,
  wish: Wish = {},
): Promise<NewRefund> {
  const { amountCents = 10_00, now = NOW } = wish;
  const { original } = await loadOriginal(store, { merchant, paymentId });
  if (!original) throw new Error(`no payment ${paymentId}`);
  return {
    paymentId: createRefundId(),
    merchant,
    original,
    decision: firstStatus(original, amountCents, now),
    amountCents,
    requestKey: wish.requestKey ?? randomUUID(),
    clientReferenceId: wish.clientReferenceId ?? null,
    softDescriptor: null,
    now,
  };
}

/** Issues a refund as a caller would: decides and saves until it is saved, or its key turns out to be used. */
export async function issueRefund(
  store: Store,
  payment: PaymentKey,
  wish: Wish = {},
): Promise<RefundRecord | "duplicate"> {
  const requestKey = wish.requestKey ?? randomUUID();
  for (;;) {
    const refund = await decideRefund(store, payment, { ...wish, requestKey });
    if (await saveRefund(store, refund)) return getRefund(store, refund);
    if (await findByRequestKey(store, { merchant: payment.merchant, requestKey })) return "duplicate";
  }
}

/** A refund that a test knows to be new. */
export async function givenRefund(store: Store, payment: PaymentKey, wish: Wish = {}): Promise<RefundRecord> {
  const refund = await issueRefund(store, payment, wish);
  if (refund === "duplicate") throw new Error("the requestKey is used");
  return refund;
}

export async function getRefund(store: Store, key: PaymentKey): Promise<RefundRecord> {
  const record = await getPayment(store, key);
  if (record?.kind !== "REFUND") throw new Error(`no refund ${key.paymentId}`);
  return record;
}

export async function getDebit(store: Store, key: PaymentKey): Promise<DebitRecord> {
  const record = await getPayment(store, key);
  if (record?.kind !== "DEBIT") throw new Error(`no original payment ${key.paymentId}`);
  return record;
}

/** Every payment and refund of a merchant. */
export async function allRecords(store: Store, merchant: string): Promise<PaymentRecord[]> {
  const rows = await store
    .selectFrom("payments")
    .select("payment_id")
    .where("merchant", "=", merchant)
    .orderBy("payment_id")
    .execute();
  const records = await Promise.all(
    rows.map((row) => getPayment(store, { merchant, paymentId: row.payment_id })),
  );
  return records.filter((record) => record !== undefined);
}

/** The refunds of a merchant. */
export async function allRefunds(store: Store, merchant: string): Promise<RefundRecord[]> {
  return (await allRecords(store, merchant)).filter((record) => record.kind === "REFUND");
}

/** The events of a merchant, oldest of each resource first, their payloads parsed. */
export async function allEvents(store: Store, merchant: string) {
  const rows = await store
    .selectFrom("events")
    .select(["type", "resource_id", "sequence", "occurred_at", "payload"])
    .where("merchant", "=", merchant)
    .orderBy("resource_id")
    .orderBy("sequence")
    .execute();
  return rows.map(({ payload, ...row }) => ({ ...row, payload: JSON.parse(payload) as unknown }));
}

/** PostgreSQL only: resolves when somebody on this database waits for a lock; rejects when the work ends without. */
export async function untilWaitingForLock(store: Store, work: Promise<unknown>): Promise<void> {
  let ended = false;
  const end = () => {
    ended = true;
  };
  work.then(end, end);
  while (!ended) {
    const { rows } = await sql`
      select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`.execute(
      store,
    );
    if (rows.length > 0) return;
  }
  throw new Error("nothing had to wait");
}
