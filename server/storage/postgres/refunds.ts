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
import { writeDeliveries } from "./events.ts";

/** By one statement. */
export async function loadOriginals(
  store: Store,
  keys: readonly PaymentKey[],
): Promise<readonly LoadedOriginal[]> {
  // PostgreSQL keeps the plan that it makes while there are few payments. `limit` stops it from planning to read all of them.
  // For a list as JSON it always expects the same number of rows; for an array it would count the items and plan each time.
  const { rows } = await sql<OriginalRow & { found: boolean; offset_ms: number | null; held: boolean }>`
    select p.kind is not null as found, wanted.payment_id, p.*, (select offset_ms from clock) as offset_ms,
      ${isHeld(sql`wanted.merchant`)} as held
    from json_to_recordset(${JSON.stringify(keys.map(toWanted))}::json)
      as wanted (position integer, payment_id text, merchant text)
    left join lateral (
      select kind, status, amount_cents, refunded_cents, settled_at from payments
      where payment_id = wanted.payment_id and merchant = wanted.merchant
      limit 1
    ) as p on true
    order by wanted.position`.execute(store);
  return rows.map((row) => ({
    original: row.found ? toOriginal(row) : undefined,
    clockOffsetMs: row.offset_ms ?? 0,
    held: row.held,
  }));
}

function toWanted({ merchant, paymentId }: PaymentKey, position: number) {
  return { position, payment_id: paymentId, merchant };
}

/**
 * By one statement. The originals' rows are locked first (D12a), in the order of their ids, so that two servers never wait for
 * each other. When that had to wait for another transaction, the conditions are checked on the row that the other left, and the
 * update below adds to that row too, so no change is lost. An amount is accepted when it fits together with all earlier refunds
 * of its original in the list, and rejected when it would be too much even without them: either result is right whichever of
 * those are saved.
 */
export async function saveRefunds(
  store: Store,
  refunds: readonly NewRefund[],
  { lockTimeoutMs = 0 }: { lockTimeoutMs?: number } = {},
): Promise<readonly boolean[]> {
  const { rows } = await sql<{ saved: string[] }>`
    with settings as materialized (
      select set_config('lock_timeout', ${String(lockTimeoutMs)}::text, true)
    ), source as materialized (
      select refund.* from settings, json_to_recordset(${JSON.stringify(toRefundRows(refunds))}::json) as refund (
        position integer, payment_id text, merchant text, status text, amount_cents bigint, request_key text,
        client_reference_id text, soft_descriptor text, due_at timestamptz, error_code text, error_message text,
        history jsonb, created_at timestamptz, original_payment_id text, original_kind text, original_status text,
        original_settled_at timestamptz, refundable boolean, cents_before bigint,
        event_id text, event_type text, event_payload text, caller jsonb, trace jsonb)
    ), original as materialized (
      select locked.*
      from (select distinct original_payment_id, merchant from source order by 1, 2) as wanted
      cross join lateral (
        select payment_id, merchant, kind, status, settled_at, amount_cents, refunded_cents from payments
        where payment_id = wanted.original_payment_id and merchant = wanted.merchant
        for update
      ) as locked
    ), refund as (
      insert into payments (payment_id, merchant, kind, status, amount_cents, request_key, client_reference_id,
        soft_descriptor, original_payment_id, due_at, error_code, error_message, history, sequence, created_at)
      select s.payment_id, s.merchant, 'REFUND', s.status, s.amount_cents, s.request_key, s.client_reference_id,
        s.soft_descriptor, o.payment_id, s.due_at, s.error_code, s.error_message, s.history, 1, s.created_at
      from source s
      join original o on o.payment_id = s.original_payment_id and o.merchant = s.merchant
      where o.kind = s.original_kind and o.status = s.original_status
        and o.settled_at is not distinct from s.original_settled_at
        and case when s.refundable then o.refunded_cents + s.cents_before + s.amount_cents <= o.amount_cents
          else o.refunded_cents + s.amount_cents > o.amount_cents end
        and (s.status <> 'AUTHORIZED' or not ${isHeld(sql`s.merchant`)})
      order by s.request_key, s.merchant, s.position
      on conflict (request_key, merchant) do nothing
      returning payment_id, merchant, status, sequence, created_at
    ), payout as (
      insert into payouts_waiting (payment_id, merchant, authorized_at)
      select payment_id, merchant, created_at from refund where status = 'AUTHORIZED'
    ), event as (
      insert into events (event_id, merchant, type, resource_id, sequence, occurred_at, payload, caller, trace)
      select s.event_id, r.merchant, s.event_type, r.payment_id, r.sequence, r.created_at, s.event_payload, s.caller, s.trace
      from refund r join source s on s.payment_id = r.payment_id and s.merchant = r.merchant
      returning event_id, merchant, type, occurred_at
    ), ${writeDeliveries(sql`(select event.*, ${EVENT_CATEGORY}::text as category from event)`)}
    select coalesce(array_agg(payment_id), '{}') as saved, (select count(*) from notified) as woken
    from refund`.execute(store);
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
