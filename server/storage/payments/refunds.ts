import { sql } from "kysely";
import type { TimeLimit } from "../../async/time-limit.ts";
import { categoryOf, refundEvent, toRefundView } from "../../domain/events.ts";
import { createEventId } from "../../domain/ids.ts";
import { type FirstStatus, isRefundable, type Original } from "../../domain/refunds.ts";
import type { HistoryEntry, Store } from "../database/tables.ts";
import { inBatches, isDistributed } from "../distributed/citus.ts";
import { callFunction } from "../distributed/functions.ts";
import { wakeDispatchers, writeDeliveries } from "../webhooks/outbox.ts";
import { type OriginalRow, type PaymentKey, toOriginal } from "./payment-record.ts";

/** A refund as decided, with the original payment on which the decision was made. */
export type NewRefund = {
  readonly paymentId: string;
  readonly merchant: string;
  /** The original payment exactly as `loadOriginals` returned it. */
  readonly original: Original;
  readonly decision: FirstStatus;
  readonly amountCents: number;
  readonly requestKey: string;
  readonly clientReferenceId: string | null;
  readonly softDescriptor: string | null;
  /** The domain's time of the decision (D30). */
  readonly now: Date;
};

/** The payment on which a refund is decided, if its merchant has it, and the clock's offset (ms). */
export type LoadedOriginal = { readonly original: Original | undefined; readonly clockOffsetMs: number };

/** Loads the payments on which refunds are decided, and the clock, by one statement. Returns them in the order of the keys. */
export async function loadOriginals(
  store: Store,
  keys: readonly PaymentKey[],
): Promise<readonly LoadedOriginal[]> {
  return isDistributed(store)
    ? inBatches(store, keys, (some) => loadFromOneMachine(store, some))
    : loadTogether(store, keys);
}

/** The same for payments of one merchant in distributed tables. Citus plans a query of this form once, and then repeats it. */
async function loadFromOneMachine(store: Store, keys: readonly PaymentKey[]): Promise<LoadedOriginal[]> {
  const [payments, clock] = await Promise.all([
    sql<OriginalRow>`
      select payment_id, kind, status, amount_cents, refunded_cents, settled_at from payments
      where merchant = ${keys[0]?.merchant} and payment_id = any(${keys.map(({ paymentId }) => paymentId)}::text[])`.execute(
      store,
    ),
    sql<{ offset_ms: number }>`select offset_ms from clock`.execute(store),
  ]);
  const originals = new Map(payments.rows.map((row) => [row.payment_id, toOriginal(row)]));
  const clockOffsetMs = clock.rows[0]?.offset_ms ?? 0;
  return keys.map(({ paymentId }) => ({ original: originals.get(paymentId), clockOffsetMs }));
}

async function loadTogether(store: Store, keys: readonly PaymentKey[]): Promise<LoadedOriginal[]> {
  // PostgreSQL keeps the plan that it makes while there are few payments. `limit` stops it from planning to read all of them.
  // For a list as JSON it always expects the same number of rows; for an array it would count the items and plan each time.
  const { rows } = await sql<OriginalRow & { found: boolean; offset_ms: number | null }>`
    select p.kind is not null as found, wanted.payment_id, p.*, (select offset_ms from clock) as offset_ms
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
  }));
}

function toWanted({ merchant, paymentId }: PaymentKey, position: number) {
  return { position, payment_id: paymentId, merchant };
}

/** The same for all events of refunds. */
const CATEGORY = categoryOf("refund.pending");

/** One refund of a statement, as `json_to_recordset` reads it. */
type SavedRow = Record<string, string | number | boolean | null | readonly HistoryEntry[]>;

/**
 * Saves refunds, adds their amounts to the originals' `refunded_cents`, and writes their events with the deliveries, all by one
 * statement. Left out is a refund whose decision no longer holds, or whose requestKey is used, also by an earlier one of these.
 *
 * The originals' rows are locked first (D12a), in the order of their ids, so that two servers never wait for each other. When
 * that had to wait for another transaction, the conditions are checked on the row that the other left, and the update below adds
 * to that row too, so no change is lost. An amount is accepted when it fits together with all earlier refunds of its original in
 * the list, and rejected when it would be too much even without them: either result is right whichever of those are saved.
 *
 * @param lockTimeoutMs how long to wait for each lock, such as one on an original, before the statement fails; 0: no limit of
 *   its own
 * @returns in the order of the refunds whether each was saved; otherwise its key is used (`findByRequestKeys` finds by what), or
 *   the decision must be made again
 */
export async function saveRefunds(
  store: Store,
  refunds: readonly NewRefund[],
  { lockTimeoutMs = 0 }: { lockTimeoutMs?: number } = {},
): Promise<readonly boolean[]> {
  if (isDistributed(store))
    return inBatches(store, refunds, (some) => saveOnOneMachine(store, some, lockTimeoutMs));
  const { rows } = await sql<{ saved: string[] }>`
    with settings as materialized (
      select set_config('lock_timeout', ${String(lockTimeoutMs)}::text, true)
    ), source as materialized (
      select refund.* from settings, json_to_recordset(${JSON.stringify(toRows(refunds))}::json) as refund (
        position integer, payment_id text, merchant text, status text, amount_cents bigint, request_key text,
        client_reference_id text, soft_descriptor text, due_at timestamptz, error_code text, error_message text,
        history jsonb, created_at timestamptz, original_payment_id text, original_kind text, original_status text,
        original_settled_at timestamptz, refundable boolean, cents_before bigint,
        event_id text, event_type text, event_payload text)
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
      order by s.request_key, s.merchant, s.position
      on conflict (request_key, merchant) do nothing
      returning payment_id, merchant, status, amount_cents, original_payment_id, sequence, created_at
    ), reserved as (
      update payments p set refunded_cents = p.refunded_cents + added.cents
      from (
        select original_payment_id, merchant, sum(amount_cents)::bigint as cents from refund
        where status <> 'TERMINAL_FAILED' group by 1, 2
      ) as added
      where p.payment_id = added.original_payment_id and p.merchant = added.merchant
    ), event as (
      insert into events (event_id, merchant, type, resource_id, sequence, occurred_at, payload)
      select s.event_id, r.merchant, s.event_type, r.payment_id, r.sequence, r.created_at, s.event_payload
      from refund r join source s on s.payment_id = r.payment_id and s.merchant = r.merchant
      returning event_id, merchant, type, occurred_at
    ), ${writeDeliveries(sql`(select event.*, ${CATEGORY}::text as category from event)`)}
    select coalesce(array_agg(payment_id), '{}') as saved, (select count(*) from notified) as woken
    from refund`.execute(store);
  const saved = new Set(rows[0]?.saved);
  return refunds.map(({ paymentId }) => saved.has(paymentId));
}

/** The same for refunds of one merchant in distributed tables. */
async function saveOnOneMachine(
  store: Store,
  refunds: readonly NewRefund[],
  lockTimeoutMs: number,
): Promise<readonly boolean[]> {
  const merchant = refunds[0]?.merchant ?? "";
  const rows = toRows(refunds).map((row) => ({ ...row, event_category: CATEGORY }));
  const { saved, woken } = await callFunction<{ saved: string[]; woken: boolean }>(
    store,
    "saveRefunds",
    merchant,
    sql`${JSON.stringify(rows)}::json`,
    sql`${lockTimeoutMs}::integer`,
  );
  // The refunds are stored. Their callers neither wait for the notification nor get an error if it fails.
  if (woken) wakeDispatchers(store, merchant).catch(() => {});
  return refunds.map(({ paymentId }) => saved.includes(paymentId));
}

/**
 * How long before its deadline a refund stops waiting for a lock, so that it is not saved after its caller has stopped waiting.
 */
const MARGIN_MS = 200;

/** Saves one refund, unless it has to wait for locks for longer than its caller waits. Otherwise as `saveRefunds`. */
export async function saveRefundInTime(
  store: Store,
  refund: NewRefund,
  { signal, remainingMs }: TimeLimit,
): Promise<boolean> {
  // The wait for a connection counts as well.
  return store.connection().execute(async (connection) => {
    signal.throwIfAborted();
    const leftMs = remainingMs() - MARGIN_MS;
    const lockTimeoutMs = Number.isFinite(leftMs) ? Math.max(1, Math.round(leftMs)) : 0;
    const [saved] = await saveRefunds(connection, [refund], { lockTimeoutMs });
    return saved === true;
  });
}

function toRows(refunds: readonly NewRefund[]): SavedRow[] {
  const centsBefore = new Map<string, number>();
  return refunds.map((refund, position) => {
    const { original, decision, merchant, amountCents } = refund;
    const key = JSON.stringify([merchant, original.paymentId]);
    const cents_before = centsBefore.get(key) ?? 0;
    if (decision.paymentStatus !== "TERMINAL_FAILED") centsBefore.set(key, cents_before + amountCents);
    return { position, ...toRow(refund), cents_before };
  });
}

function toRow(refund: NewRefund): SavedRow {
  const { paymentId, merchant, original, decision, amountCents, requestKey, clientReferenceId, now } = refund;
  const status = decision.paymentStatus;
  const failure = decision.paymentStatus === "TERMINAL_FAILED" ? decision : null;
  const dueAt = decision.paymentStatus === "PENDING" ? decision.dueAt : null;
  const view = toRefundView({ paymentId, status, clientReferenceId, failure });
  const event = refundEvent(view, { at: now, sequence: 1 });
  return {
    payment_id: paymentId,
    merchant,
    status,
    amount_cents: amountCents,
    request_key: requestKey,
    client_reference_id: clientReferenceId,
    soft_descriptor: refund.softDescriptor,
    due_at: dueAt?.toISOString() ?? null,
    error_code: failure?.errorCode ?? null,
    error_message: failure?.errorMessage ?? null,
    history: [{ status, at: now.toISOString() }],
    created_at: now.toISOString(),
    original_payment_id: original.paymentId,
    original_kind: original.kind,
    original_status: original.status,
    original_settled_at: original.settledAt?.toISOString() ?? null,
    refundable: isRefundable(original, amountCents),
    event_id: createEventId(),
    event_type: event.type,
    event_payload: event.payload,
  };
}
