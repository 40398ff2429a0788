import { type RawBuilder, sql } from "kysely";
import { firstIdSince } from "../../domain/ids.ts";
import type { Db } from "../database/tables.ts";
import { isForgettable } from "../webhooks/retention.ts";

/** A page of a merchant's stored records. */
export type MerchantPart = {
  readonly merchant: string;
  /**
   * Only records that are older than this. Ids of deliveries and events hold real time; payments and subscriptions have
   * domain time (D30).
   */
  readonly before: Date;
  /** `last` of the previous page; empty for the first one. */
  readonly after: string;
  /** How many rows to read; of events, those of all merchants. */
  readonly atMost: number;
};

export type ErasedPart = {
  readonly erased: number;
  /** Rows of this page that must stay for now, such as a delivery that is still pending. */
  readonly kept: number;
  readonly last: string | undefined;
};

/** Erases deliveries that are finished, with their attempts; those that are pending stay. */
export async function eraseDeliveries(db: Db, part: MerchantPart): Promise<ErasedPart> {
  const batch = sql`select webhook_id as id from deliveries
    where merchant = ${part.merchant} and webhook_id > ${part.after}
      and webhook_id < ${firstIdSince("msg_", part.before)}
    order by webhook_id limit ${part.atMost}`;
  const erased = sql`delete from deliveries d
    where d.merchant = ${part.merchant} and d.webhook_id = any(array(select id from batch)) and d.state <> 'PENDING' returning 1`;
  return erase(db, batch, erased);
}

/** Notes that a merchant's events before a time are erased, so that nobody takes them for lost. */
export async function recordErasure(
  db: Db,
  { merchant, before }: Pick<MerchantPart, "merchant" | "before">,
): Promise<void> {
  await sql`
    insert into erasures as known (merchant, before) values (${merchant}, ${before}::timestamptz)
    on conflict (merchant) do update set before = greatest(known.before, excluded.before)`.execute(db);
}

/** Erases events without deliveries, and so who issued a refund, and the trace of that call. The newest event of an account or customer stays: the next one is numbered by it. */
export async function eraseEvents(db: Db, part: MerchantPart): Promise<ErasedPart> {
  const batch = sql`select event_id as id, merchant from events
    where event_id > ${part.after} and event_id < ${firstIdSince("evt_", part.before)}
    order by event_id limit ${part.atMost}`;
  const erased = sql`delete from events e
    where e.merchant = ${part.merchant}
      and e.event_id = any(array(select id from batch where merchant = ${part.merchant})) and ${isForgettable()}
    returning 1`;
  return erase(db, batch, erased);
}

/** Erases subscriptions that have ended, with their urls and secrets, unless a delivery of theirs is left. */
export async function eraseSubscriptions(db: Db, part: MerchantPart): Promise<ErasedPart> {
  const batch = sql`select subscription_key as id from subscriptions
    where merchant = ${part.merchant} and ended_at < ${part.before}::timestamptz and subscription_key > ${part.after}
    order by subscription_key limit ${part.atMost}`;
  const erased = sql`delete from subscriptions s
    where s.merchant = ${part.merchant} and s.subscription_key = any(array(select id from batch)) and not exists (
      select from deliveries d where d.merchant = s.merchant and d.subscription_key = s.subscription_key)
    returning 1`;
  return erase(db, batch, erased);
}

/** Erases who made the subscriptions that stay. */
export async function eraseSubscribers(db: Db, part: MerchantPart): Promise<ErasedPart> {
  const batch = sql`select subscription_key as id from subscriptions
    where merchant = ${part.merchant} and created_at < ${part.before}::timestamptz and subscription_key > ${part.after}
      and caller is not null
    order by subscription_key limit ${part.atMost}`;
  const erased = sql`update subscriptions s set caller = null
    where s.merchant = ${part.merchant} and s.subscription_key = any(array(select id from batch)) returning 1`;
  return erase(db, batch, erased);
}

/** Erases what a merchant wrote into payments and refunds about its customers. The records themselves stay. */
export async function erasePaymentTexts(db: Db, part: MerchantPart): Promise<ErasedPart> {
  const batch = sql`select payment_id as id from payments
    where merchant = ${part.merchant} and created_at < ${part.before}::timestamptz and payment_id > ${part.after}
      and num_nonnulls(client_reference_id, soft_descriptor) > 0
    order by payment_id limit ${part.atMost}`;
  const erased = sql`update payments p set client_reference_id = null, soft_descriptor = null
    where p.merchant = ${part.merchant} and p.payment_id = any(array(select id from batch)) returning 1`;
  return erase(db, batch, erased);
}

async function erase(db: Db, batch: RawBuilder<unknown>, erased: RawBuilder<unknown>): Promise<ErasedPart> {
  const { rows } = await sql<{ erased: number; read: number; last: string | null }>`
    with batch as materialized (${batch}), erased as (${erased})
    select (select count(*)::integer from erased) as erased, count(*)::integer as read, max(id) as last
    from batch`.execute(db);
  const { erased: count = 0, read = 0, last } = rows[0] ?? {};
  return { erased: count, kept: read - count, last: last ?? undefined };
}
