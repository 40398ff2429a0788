import { type RawBuilder, sql } from "kysely";
import type { Store } from "../database/tables.ts";
import {
  type PaymentKey,
  type PaymentRecord,
  type RequestKey,
  selectByRequestKeys,
  toFoundRecords,
} from "../statements/payment-record.ts";
import {
  type LoadedOriginal,
  loadStatement,
  type NewRefund,
  saveStatement,
  toLoaded,
  toRefundRows,
  toWanted,
} from "../statements/refunds.ts";

/** By one statement. */
export async function loadOriginals(
  store: Store,
  keys: readonly PaymentKey[],
): Promise<readonly LoadedOriginal[]> {
  const { rows } = await loadStatement(sql`${JSON.stringify(keys.map(toWanted))}::json`).execute(store);
  return rows.map(toLoaded);
}

export async function saveRefunds(
  store: Store,
  refunds: readonly NewRefund[],
  { lockTimeoutMs = 0 }: { lockTimeoutMs?: number } = {},
): Promise<readonly boolean[]> {
  const { rows } = await saveStatement({
    refunds: sql`${JSON.stringify(toRefundRows(refunds))}::json`,
    lockTimeoutMs: sql`${String(lockTimeoutMs)}::text`,
  }).execute(store);
  const saved = new Set(rows[0]?.saved);
  return refunds.map(({ paymentId }) => saved.has(paymentId));
}

export async function findByRequestKeys(
  store: Store,
  keys: readonly RequestKey[],
): Promise<(PaymentRecord | undefined)[]> {
  return toFoundRecords(await selectByRequestKeys(keys).execute(store));
}

export function isOneOf(keys: readonly PaymentKey[]): RawBuilder<boolean> {
  return sql<boolean>`(payment_id, merchant) in (
    select * from unnest(${keys.map(({ paymentId }) => paymentId)}::text[], ${keys.map(({ merchant }) => merchant)}::text[]))`;
}
