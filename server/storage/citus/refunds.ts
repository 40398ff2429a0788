import { type RawBuilder, sql } from "kysely";
import type { Store } from "../database/tables.ts";
import { isHeld } from "../payments/holds.ts";
import {
  type OriginalRow,
  type PaymentKey,
  type PaymentRecord,
  type RequestKey,
  selectByRequestKeys,
  toFoundRecords,
  toOriginal,
} from "../statements/payment-record.ts";
import { EVENT_CATEGORY, type LoadedOriginal, type NewRefund, toRefundRows } from "../statements/refunds.ts";
import { inBatches, onOneMachine } from "./batches.ts";
import { callFunction } from "./functions.ts";

export async function loadOriginals(
  store: Store,
  keys: readonly PaymentKey[],
): Promise<readonly LoadedOriginal[]> {
  return inBatches(keys, (some) => loadFromOneMachine(store, some));
}

/** Citus plans a query of this form once, and then repeats it. */
async function loadFromOneMachine(store: Store, keys: readonly PaymentKey[]): Promise<LoadedOriginal[]> {
  const [payments, clock] = await Promise.all([
    sql<OriginalRow>`
      select payment_id, kind, status, amount_cents, refunded_cents, settled_at from payments
      where merchant = ${keys[0]?.merchant} and payment_id = any(${keys.map(({ paymentId }) => paymentId)}::text[])`.execute(
      store,
    ),
    // A subquery, because the clock has no row before it is advanced.
    sql<{ offset_ms: number | null; held: boolean }>`
      select (select offset_ms from clock) as offset_ms, ${isHeld(sql`${keys[0]?.merchant}::text`)} as held`.execute(
      store,
    ),
  ]);
  const originals = new Map(payments.rows.map((row) => [row.payment_id, toOriginal(row)]));
  const { offset_ms, held = false } = clock.rows[0] ?? {};
  const clockOffsetMs = offset_ms ?? 0;
  return keys.map(({ paymentId }) => ({ original: originals.get(paymentId), clockOffsetMs, held }));
}

export async function saveRefunds(
  store: Store,
  refunds: readonly NewRefund[],
  { lockTimeoutMs = 0 }: { lockTimeoutMs?: number } = {},
): Promise<readonly boolean[]> {
  return inBatches(refunds, (some) => saveOnOneMachine(store, some, lockTimeoutMs));
}

async function saveOnOneMachine(
  store: Store,
  refunds: readonly NewRefund[],
  lockTimeoutMs: number,
): Promise<readonly boolean[]> {
  const merchant = refunds[0]?.merchant ?? "";
  const rows = toRefundRows(refunds).map((row) => ({ ...row, event_category: EVENT_CATEGORY }));
  const saved = await callFunction<string[]>(
    store,
    "saveRefunds",
    merchant,
    sql`${JSON.stringify(rows)}::json`,
    sql`${lockTimeoutMs}::integer`,
  );
  return refunds.map(({ paymentId }) => saved.includes(paymentId));
}

export async function countRefund(
  store: Store,
  { merchant, paymentId }: PaymentKey,
  amountCents: number,
): Promise<void> {
  await sql`
    update payments set refunded_cents = refunded_cents + ${amountCents}
    where payment_id = ${paymentId} and merchant = ${merchant}`.execute(store);
}

export async function findByRequestKeys(
  store: Store,
  keys: readonly RequestKey[],
): Promise<readonly (PaymentRecord | undefined)[]> {
  return inBatches(keys, async (some) =>
    toFoundRecords(await selectByRequestKeys(some, onOneMachine("payments.merchant", some)).execute(store)),
  );
}

export function isOneOf(keys: readonly PaymentKey[]): RawBuilder<boolean> {
  return sql<boolean>`merchant = ${keys[0]?.merchant} and payment_id = any(${keys.map(({ paymentId }) => paymentId)}::text[])`;
}
