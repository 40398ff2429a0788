import { type RawBuilder, sql } from "kysely";
import { categoryOf, refundEvent } from "../../domain/event-payloads.ts";
import { createEventId } from "../../domain/ids.ts";
import { isRefundable, type Original } from "../../domain/refund-rules.ts";
import type { Db, Value } from "../database/db-types.ts";
import { writeDeliveries } from "../webhooks/event-fan-out.ts";
import { isHeld } from "./holds.ts";
import {
  type NewRefund,
  PAYMENT_COLUMNS,
  type PaymentKey,
  type PaymentRecord,
  type PaymentRow,
  REFUND_COLUMNS,
  type RequestKey,
  toPaymentRecord,
} from "./payment-record.ts";

/**
 * Saves refunds, their events and the deliveries of these by one statement; the database adds their amounts to the originals'
 * `refunded_cents`. Skips a refund whose decision no longer holds, or whose requestKey is used, even by an earlier one of these.
 * @param lockTimeoutMs called when there is a connection: how long to wait for each lock, such as one on an original; 0 for the limit
 *   of the connection. If it throws, nothing is saved.
 * @returns in the order of the refunds whether each was saved; otherwise its key is used, or the decision must be made again
 */
export async function saveRefunds(
  db: Db,
  refunds: readonly NewRefund[],
  lockTimeoutMs: () => number = () => 0,
): Promise<readonly boolean[]> {
  const rows = JSON.stringify(toRefundRows(refunds));
  const save = async (connection: Db) => saveStatement(rows, String(lockTimeoutMs())).execute(connection);
  const result = await (db.isTransaction ? save(db) : db.connection().execute(save));
  const saved = new Set(result.rows[0]?.saved);
  return refunds.map(({ paymentId }) => saved.has(paymentId));
}

/** The data on which a refund is decided. */
export type LoadedOriginal = {
  /** The payment that it names, if its merchant has it. */
  readonly original: Original | undefined;
  /** The clock's offset in milliseconds. */
  readonly clockOffsetMs: number;
  /** Whether refunds of the merchant are held. */
  readonly held: boolean;
  /** How many live subscriptions of the merchant are to events of refunds. */
  readonly receivers: number;
};

export type LoadedRow = Original & Omit<LoadedOriginal, "original"> & { found: boolean; position: number };

/** Loads the payments on which refunds are decided, and the clock, by one statement. Returns them in the order of the keys. */
export async function loadOriginals(db: Db, keys: readonly PaymentKey[]): Promise<LoadedOriginal[]> {
  const { rows } = await loadStatement(JSON.stringify(keys.map(toWanted))).execute(db);
  return rows.map(toLoaded);
}

/** What to load, as `json_to_recordset` reads it. */
export function toWanted({ merchant, paymentId }: PaymentKey, position: number) {
  return { position, payment_id: paymentId, merchant };
}

/** @param wanted a list of `toWanted` in JSON */
export function loadStatement(wanted: Value<string>): RawBuilder<LoadedRow> {
  // PostgreSQL keeps the plan that it makes while there are few payments. `limit` stops it from planning to read all of them.
  // It expects the same number of rows of any list in JSON, and so keeps one plan; for an array it would plan each time.
  return sql<LoadedRow>`
    select p.kind is not null as found, wanted.position, wanted.payment_id as "paymentId", p.*,
      coalesce((select offset_ms from clock), 0) as "clockOffsetMs", ${isHeld(sql`wanted.merchant`)} as held,
      (select count(*)::integer from subscriptions s where s.merchant = wanted.merchant and s.ended_at is null
        and (s.type = 'ALL' or s.details::text ~ 'PAYMENT|refund')) as receivers
    from json_to_recordset(${wanted}::json) as wanted (position integer, payment_id text, merchant text)
    left join lateral (
      select kind, status, amount_cents as "amountCents", refunded_cents as "refundedCents", settled_at as "settledAt" from payments
      where payment_id = wanted.payment_id and merchant = wanted.merchant limit 1
    ) as p on true
    order by wanted.position`;
}

export function toLoaded({
  found,
  position: _,
  clockOffsetMs,
  held,
  receivers,
  ...original
}: LoadedRow): LoadedOriginal {
  return { original: found ? original : undefined, clockOffsetMs, held, receivers };
}

/** The refunds of a statement, as `json_to_recordset` reads them. */
export function toRefundRows(refunds: readonly NewRefund[]) {
  const centsBefore = new Map<string, number>();
  return refunds.map((refund, position) => {
    const { original, decision, merchant, amountCents } = refund;
    const key = JSON.stringify([merchant, original.paymentId]);
    const cents_before = centsBefore.get(key) ?? 0;
    if (decision.paymentStatus !== "TERMINAL_FAILED") centsBefore.set(key, cents_before + amountCents);
    return { position, ...toRow(refund), cents_before };
  });
}

function toRow(refund: NewRefund) {
  const { merchant, original, decision, now } = refund;
  const status = decision.paymentStatus;
  const failure = status === "TERMINAL_FAILED" ? decision : null;
  const event = refundEvent(
    { ...refund, status, originalPaymentId: original.paymentId, failure },
    { at: now, sequence: 1 },
  );
  const columns = Object.entries(REFUND_COLUMNS).map(([name, [, read]]) => [name, read(refund)]);
  return {
    ...Object.fromEntries(columns),
    merchant,
    original_kind: original.kind,
    original_status: original.status,
    original_settled_at: original.settledAt,
    refundable: isRefundable(original, refund.amountCents),
    event_id: createEventId(),
    event_type: event.type,
    event_payload: event.payload,
    caller: refund.caller ?? null,
    trace: refund.trace ?? null,
  };
}

const columnNames = Object.keys(REFUND_COLUMNS) as (keyof typeof REFUND_COLUMNS)[];
const NEW_COLUMNS = sql.raw(columnNames.join(", "));
const NEW_VALUES = sql.raw(columnNames.map((name) => `s.${name}`).join(", "));
const TYPED_COLUMNS = sql.raw(columnNames.map((name) => `${name} ${REFUND_COLUMNS[name][0]}`).join(", "));

/** The same for all events of refunds. */
const EVENT_CATEGORY = categoryOf("refund.pending");

/**
 * The originals' rows are locked first (D12a), in the order of their ids, so that two servers never wait for each other. When that
 * had to wait for another transaction, the conditions are checked on the row that the other left, and the database adds to that row
 * too. An amount is accepted when it fits even if all earlier refunds of its original in the list are saved, and rejected when it is
 * too much even if none is. An amount in between is not saved, and decided again.
 * @param refunds `toRefundRows` in JSON
 * @param alsoWrite further parts of the `with` clause, which see the new rows as `refund`
 */
export function saveStatement(
  refunds: Value<string>,
  lockTimeoutMs: Value<string>,
  alsoWrite = sql``,
): RawBuilder<{ saved: string[] }> {
  return sql<{ saved: string[] }>`
    with settings as materialized (
      select set_config('lock_timeout', ${lockTimeoutMs}::text, true)
    ), source as materialized (
      select refund.* from settings, json_to_recordset(${refunds}::json) as refund (
        ${TYPED_COLUMNS}, position integer, original_kind text, original_status text,
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
      insert into payments (kind, sequence, ${NEW_COLUMNS}) select 'REFUND', 1, ${NEW_VALUES} from source s
      join original o on o.payment_id = s.original_payment_id and o.merchant = s.merchant
      where o.kind = s.original_kind and o.status = s.original_status
        and o.settled_at is not distinct from s.original_settled_at
        and case when s.refundable then o.refunded_cents + s.cents_before + s.amount_cents <= o.amount_cents
          else o.refunded_cents + s.amount_cents > o.amount_cents end
        and (s.status <> 'AUTHORIZED' or not ${isHeld(sql`s.merchant`)})
      order by s.request_key, s.merchant, s.position
      on conflict (request_key, merchant) do nothing
      returning payment_id, merchant, status, sequence, created_at
    ), ${alsoWrite}payout as (
      insert into payouts_waiting (payment_id, merchant, authorized_at)
      select payment_id, merchant, created_at from refund where status = 'AUTHORIZED' on conflict do nothing
    ), event as (
      insert into events (event_id, merchant, type, resource_id, sequence, occurred_at, payload, caller, trace)
      select s.event_id, r.merchant, s.event_type, r.payment_id, r.sequence, r.created_at, s.event_payload, s.caller, s.trace
      from refund r join source s on s.payment_id = r.payment_id and s.merchant = r.merchant
      returning event_id, merchant, type, occurred_at
    ), ${writeDeliveries(sql`(select event.*, ${EVENT_CATEGORY}::text as category from event)`)}
    select coalesce(array_agg(payment_id), '{}') as saved, (select count(*) from notified) as woken
    from refund`;
}

/** The payments or refunds that have requestKeys of their merchants (D10), by one statement, in the order of the keys. */
export async function findByRequestKeys(
  db: Db,
  keys: readonly RequestKey[],
): Promise<readonly (PaymentRecord | undefined)[]> {
  // `limit` and JSON for the reasons given in `loadStatement`.
  const { rows } = await sql<PaymentRow & { found: boolean }>`
    select p.kind is not null as found, p.*
    from json_to_recordset(${JSON.stringify(keys.map((key, position) => ({ position, key: key.requestKey, merchant: key.merchant })))}::json)
      as wanted (position integer, key text, merchant text)
    left join lateral (
      select ${PAYMENT_COLUMNS} from payments where request_key = wanted.key and payments.merchant = wanted.merchant limit 1
    ) as p on true
    order by wanted.position`.execute(db);
  return rows.map(({ found, ...row }) => (found ? toPaymentRecord(row) : undefined));
}
