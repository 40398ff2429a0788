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
  const which = sql`merchant = ${part.merchant} and webhook_id < ${firstIdSince("msg_", part.before)}`;
  const change = sql`delete from deliveries d where d.webhook_id = any(array(select id from batch)) and d.state <> 'PENDING'`;
  return erase(db, part, { table: "deliveries", id: "webhook_id", which, change });
}

/** Notes that a merchant's events before a time are erased, so that nobody takes them for lost. */
export async function recordErasure(db: Db, { merchant, before }: Pick<MerchantPart, "merchant" | "before">) {
  await sql`
    insert into erasures as known (merchant, before) values (${merchant}, ${before}::timestamptz)
    on conflict (merchant) do update set before = greatest(known.before, excluded.before)`.execute(db);
}

/**
 * Erases events without deliveries, and so who issued a refund, and the trace of that call. The newest event of an account or
 * customer stays: the next one is numbered by it.
 */
export async function eraseEvents(db: Db, part: MerchantPart): Promise<ErasedPart> {
  const which = sql`event_id < ${firstIdSince("evt_", part.before)}`;
  const change = sql`delete from events e where e.event_id = any(array(select id from batch where merchant = ${part.merchant}))
    and ${isForgettable()}`;
  return erase(db, part, { table: "events", id: "event_id", which, change });
}

/** Erases subscriptions that have ended, with their urls and secrets, unless a delivery of theirs is left. */
export async function eraseSubscriptions(db: Db, part: MerchantPart): Promise<ErasedPart> {
  const which = sql`merchant = ${part.merchant} and ended_at < ${part.before}::timestamptz`;
  const change = sql`delete from subscriptions e where e.subscription_key = any(array(select id from batch)) and not exists (
    select from deliveries d where d.merchant = e.merchant and d.subscription_key = e.subscription_key)`;
  return erase(db, part, { table: "subscriptions", id: "subscription_key", which, change });
}

/** Erases who made the subscriptions that stay. */
export async function eraseSubscribers(db: Db, part: MerchantPart): Promise<ErasedPart> {
  const which = sql`merchant = ${part.merchant} and created_at < ${part.before}::timestamptz and caller is not null`;
  const change = sql`update subscriptions e set caller = null where e.subscription_key = any(array(select id from batch))`;
  return erase(db, part, { table: "subscriptions", id: "subscription_key", which, change });
}

/** Erases what a merchant wrote into payments and refunds about its customers. The records themselves stay. */
export async function erasePaymentTexts(db: Db, part: MerchantPart): Promise<ErasedPart> {
  const which = sql`merchant = ${part.merchant} and created_at < ${part.before}::timestamptz
    and num_nonnulls(client_reference_id, soft_descriptor) > 0`;
  const change = sql`update payments e set client_reference_id = null, soft_descriptor = null
    where e.payment_id = any(array(select id from batch))`;
  return erase(db, part, { table: "payments", id: "payment_id", which, change });
}

type Erasure = Readonly<{
  table: string;
  id: string;
  which: RawBuilder<unknown>;
  change: RawBuilder<unknown>;
}>;

/** Changes the rows of a page. Of events, a page has those of all merchants. */
async function erase(db: Db, part: MerchantPart, { table, id, which, change }: Erasure): Promise<ErasedPart> {
  const { rows } = await sql<{ erased: number; read: number; last: string | null }>`
    with batch as materialized (
      select ${sql.ref(id)} as id, merchant from ${sql.table(table)}
      where ${which} and ${sql.ref(id)} > ${part.after} order by ${sql.ref(id)} limit ${part.atMost}
    ), erased as (${change} and merchant = ${part.merchant} returning 1)
    select (select count(*)::integer from erased) as erased, count(*)::integer as read, max(id) as last
    from batch`.execute(db);
  const { erased: count = 0, read = 0, last } = rows[0] ?? {};
  return { erased: count, kept: read - count, last: last ?? undefined };
}

/** What a merchant calls a customer, or something of it. */
export type Reference = {
  readonly merchant: string;
  /** The `clientReferenceId` of payments and refunds, or the id of an account or a customer. */
  readonly reference: string;
  /** How many payments and refunds to examine. */
  readonly atMost: number;
  /** `last` of the previous page; empty for the first one. */
  readonly after: string;
};

/** Its events up to this number are gone, however they went. */
export type ErasedPayment = { readonly paymentId: string; readonly sequence: number };

export type ErasedReference = {
  readonly deliveries: number;
  readonly events: number;
  /** The payments and refunds of this page. */
  readonly payments: readonly ErasedPayment[];
  /** Events that stay: a delivery of theirs is pending, or the next event of an account or a customer gets its number from them. */
  readonly kept: number;
  readonly last: string | undefined;
};

/**
 * Erases what a reference leads to, whenever it was made: finished deliveries and events of the payments and refunds that have it,
 * and of the account or customer with this id.
 */
export async function eraseReference(db: Db, { merchant, reference, after, atMost }: Reference) {
  // The condition on the sequence holds for every row, and lets PostgreSQL use the index of the merchant's payments.
  const found = await sql<{ payment_id: string }>`
    select payment_id from payments
    where merchant = ${merchant} and sequence >= 0 and client_reference_id = ${reference} and payment_id > ${after}
    order by payment_id limit ${atMost}`.execute(db);
  const paymentIds = found.rows.map((row) => row.payment_id);
  const ids = sql`${after === "" ? [...paymentIds, reference] : paymentIds}::text[]`;
  const deliveries = await sql`
    delete from deliveries d where d.merchant = ${merchant} and d.state <> 'PENDING' and d.webhook_id = any(array(
      select o.webhook_id from events e join deliveries o on o.merchant = e.merchant and o.event_id = e.event_id
        and o.webhook_id >= 'msg_' || substr(e.event_id, 5, 18) and o.webhook_id < 'msg_' || substr(e.event_id, 5, 18) || '~'
      where e.merchant = ${merchant} and e.resource_id = any(${ids})))`.execute(db);
  const events = await sql`
    delete from events e where e.merchant = ${merchant} and e.resource_id = any(${ids})
      and ${isForgettable()}`.execute(db);
  const kept = await sql<{ kept: number }>`
    select count(*)::integer as kept from events where merchant = ${merchant}
      and resource_id = any(${ids})`.execute(db);
  const payments = await sql<ErasedPayment>`
    select p.payment_id as "paymentId", coalesce((
      select min(e.sequence) - 1 from events e where e.merchant = p.merchant and e.resource_id = p.payment_id
    ), p.sequence) as sequence
    from payments p where p.merchant = ${merchant} and p.payment_id = any(${paymentIds}::text[])`.execute(db);
  const countOf = ({ numAffectedRows = 0n }: { numAffectedRows?: bigint }) => Number(numAffectedRows);
  return {
    deliveries: countOf(deliveries),
    events: countOf(events),
    payments: payments.rows,
    kept: kept.rows[0]?.kept ?? 0,
    last: paymentIds.at(-1),
  };
}

/** A merchant's payments that a reference leads to. */
export type ErasedPayments = { readonly merchant: string; readonly payments: readonly ErasedPayment[] };

/** Notes which events of payments are erased, so that nobody takes them for lost. The ids of payments name no customer. */
export async function recordErasedPayments(db: Db, { merchant, payments }: ErasedPayments): Promise<void> {
  await sql`
    insert into erased_payments as known (payment_id, merchant, sequence)
    select payment_id, ${merchant}, sequence
    from unnest(${payments.map(({ paymentId }) => paymentId)}::text[], ${payments.map(({ sequence }) => sequence)}::integer[])
      as erased (payment_id, sequence)
    where sequence >= 1
    on conflict (payment_id, merchant) do update set sequence = greatest(known.sequence, excluded.sequence)`.execute(
    db,
  );
}

/**
 * Erases the texts of those payments whose events are gone, and returns of how many. It comes last, so that a payment is found again for
 * as long as something of it is left.
 */
export async function eraseReferencedTexts(db: Db, { merchant, payments }: ErasedPayments): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    update payments p set client_reference_id = null, soft_descriptor = null
    where p.merchant = ${merchant} and p.payment_id = any(${payments.map(({ paymentId }) => paymentId)}::text[])
      and not exists (select from events e where e.merchant = p.merchant
        and e.resource_id = p.payment_id)`.execute(db);
  return Number(numAffectedRows);
}
