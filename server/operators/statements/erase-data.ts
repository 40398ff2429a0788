import { type RawBuilder, sql } from "kysely";
import { firstIdSince } from "../../domain/ids.ts";
import type { Db } from "../../storage/database/db-types.ts";
import { CUSTOMER_TEXTS } from "../../storage/payments/payment-record.ts";
import { isForgettable } from "../../storage/webhooks/delete-expired.ts";

/** Erases one kind of data of a merchant, such as its finished deliveries, from the next `atMost` of its rows. */
export async function erase(db: Db, kind: ErasedKind, part: MerchantPart): Promise<ErasedPart> {
  const { table, id, which, change } = ERASURES[kind](part);
  const { rows } = await sql<{ erased: number; read: number; last: string | null }>`
    with batch as materialized (
      select ${sql.ref(id)} as id, merchant from ${sql.table(table)}
      where ${which} and ${sql.ref(id)} > ${part.after} order by ${sql.ref(id)} limit ${part.atMost}
    ), erased as (${change} and merchant = ${part.merchant} returning 1)
    select (select count(*)::integer from erased) as erased, count(*)::integer as read, max(id) as last
    from batch`.execute(db);
  const { erased = 0, read = 0, last } = rows[0] ?? {};
  return { erased, kept: read - erased, last: last ?? undefined };
}

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

type Erasure = Readonly<{
  table: string;
  id: string;
  /** The rows to read. */
  which: RawBuilder<unknown>;
  /** What is done with those of a page. */
  change: RawBuilder<unknown>;
}>;

/** What is erased of a merchant, in this order: events and subscriptions come after their deliveries. */
const ERASURES = {
  /** Those that are finished, with their attempts. */
  deliveries: ({ merchant, before }) => ({
    table: "deliveries",
    id: "webhook_id",
    which: sql`merchant = ${merchant} and webhook_id < ${firstIdSince("msg_", before)}`,
    change: sql`delete from deliveries e where e.webhook_id = any(array(select id from batch)) and e.state <> 'PENDING'`,
  }),
  /**
   * Those without deliveries, and so who issued a refund, and the trace of that call. The newest event of an account or customer
   * stays: the next one is numbered by it. A page has the events of all merchants.
   */
  events: ({ merchant, before }) => ({
    table: "events",
    id: "event_id",
    which: sql`event_id < ${firstIdSince("evt_", before)}`,
    change: sql`delete from events e
      where e.event_id = any(array(select id from batch where merchant = ${merchant})) and ${isForgettable()}`,
  }),
  /** Those that have ended, with their urls and secrets, unless a delivery of theirs is left. */
  subscriptions: ({ merchant, before }) => ({
    table: "subscriptions",
    id: "subscription_key",
    which: sql`merchant = ${merchant} and ended_at < ${before}::timestamptz`,
    change: sql`delete from subscriptions e where e.subscription_key = any(array(select id from batch)) and not exists (
      select from deliveries d where d.merchant = e.merchant and d.subscription_key = e.subscription_key)`,
  }),
  /** Who made the subscriptions that stay. */
  subscribers: ({ merchant, before }) => ({
    table: "subscriptions",
    id: "subscription_key",
    which: sql`merchant = ${merchant} and created_at < ${before}::timestamptz and caller is not null`,
    change: sql`update subscriptions e set caller = null where e.subscription_key = any(array(select id from batch))`,
  }),
  /** What the merchant wrote into payments and refunds about its customers. The records themselves stay. */
  paymentTexts: ({ merchant, before }) => ({
    table: "payments",
    id: "payment_id",
    which: sql`merchant = ${merchant} and created_at < ${before}::timestamptz
      and num_nonnulls(${sql.raw(CUSTOMER_TEXTS.join(", "))}) > 0`,
    change: sql`update payments e set ${sql.raw(CUSTOMER_TEXTS.map((name) => `${name} = null`).join(", "))}
      where e.payment_id = any(array(select id from batch))`,
  }),
} as const satisfies Record<string, (part: MerchantPart) => Erasure>;

export type ErasedKind = keyof typeof ERASURES;
export const ERASED_KINDS = Object.keys(ERASURES) as readonly ErasedKind[];

/** Notes that a merchant's events before a time are erased, so that nobody takes them for lost. */
export async function recordErasure(db: Db, { merchant, before }: Pick<MerchantPart, "merchant" | "before">) {
  await sql`
    insert into erasures as known (merchant, before) values (${merchant}, ${before}::timestamptz)
    on conflict (merchant) do update set before = greatest(known.before, excluded.before)`.execute(db);
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

/**
 * Erases what a reference leads to, whenever it was made: finished deliveries and events of the payments and refunds that have it,
 * and of the account or customer with this id.
 *
 * The texts of payments come last, so that a payment is found again for as long as something of it is left. Which events are erased is
 * noted, so that nobody takes them for lost; the ids of payments name no customer.
 * @returns how many; events are `kept` because a delivery of theirs is pending, or the next event of an account or a customer gets its
 *   number from them
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
  const { rows: erased } = await sql<{ payment_id: string; sequence: number }>`
    select p.payment_id, coalesce((
      select min(e.sequence) - 1 from events e where e.merchant = p.merchant and e.resource_id = p.payment_id
    ), p.sequence) as sequence
    from payments p where p.merchant = ${merchant} and p.payment_id = any(${paymentIds}::text[])`.execute(db);
  await sql`
    insert into erased_payments as known (payment_id, merchant, sequence)
    select payment_id, ${merchant}, sequence
    from json_to_recordset(${JSON.stringify(erased)}::json) as erased (payment_id text, sequence integer)
    where sequence >= 1
    on conflict (payment_id, merchant) do update set sequence = greatest(known.sequence, excluded.sequence)`.execute(
    db,
  );
  const payments = await sql`
    update payments p set client_reference_id = null, soft_descriptor = null
    where p.merchant = ${merchant} and p.payment_id = any(${paymentIds}::text[])
      and not exists (select from events e where e.merchant = p.merchant
        and e.resource_id = p.payment_id)`.execute(db);
  const countOf = ({ numAffectedRows = 0n }: { numAffectedRows?: bigint }) => Number(numAffectedRows);
  return {
    deliveries: countOf(deliveries),
    events: countOf(events),
    payments: countOf(payments),
    kept: kept.rows[0]?.kept ?? 0,
    last: paymentIds.at(-1),
  };
}
