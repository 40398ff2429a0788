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
  type LoadedRow,
  type NewRefund,
  toLoaded,
  toRefundRows,
  toWanted,
} from "../statements/refunds.ts";
import { storeOf } from "../statements/statements.ts";
import { inBatches, onOneMachine } from "./batches.ts";
import { callOnShards } from "./functions.ts";

export async function loadOriginals(
  store: Store,
  keys: readonly PaymentKey[],
): Promise<readonly LoadedOriginal[]> {
  const rows = await callOnShards<LoadedJson>(store, "loadOriginals", keys.map(toWanted));
  return rows
    .toSorted((a, b) => a.position - b.position)
    .map((row) =>
      toLoaded({ ...row, settled_at: row.settled_at === null ? null : new Date(row.settled_at) }),
    );
}

/** A row of `loadStatement` in JSON. */
type LoadedJson = Omit<LoadedRow, "settled_at"> & { settled_at: string | null };

export async function saveRefunds(
  store: Store,
  refunds: readonly NewRefund[],
  { lockTimeoutMs = 0 }: { lockTimeoutMs?: number } = {},
): Promise<readonly boolean[]> {
  const rows = await callOnShards<{ saved: string[] }>(store, "saveRefunds", toRefundRows(refunds), {
    lockTimeoutMs,
  });
  const saved = new Set(rows.flatMap((row) => row.saved));
  return refunds.map(({ paymentId }) => saved.has(paymentId));
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
  return inBatches(keys, async (some) => {
    const statement = selectByRequestKeys(some, onOneMachine("payments.merchant", some));
    return toFoundRecords(await statement.execute(await storeOf(store, some[0]?.merchant ?? "")));
  });
}

export function isOneOf(keys: readonly PaymentKey[]): RawBuilder<boolean> {
  return sql<boolean>`merchant = ${keys[0]?.merchant} and payment_id = any(${keys.map(({ paymentId }) => paymentId)}::text[])`;
}
