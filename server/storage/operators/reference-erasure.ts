import { sql } from "kysely";
import type { Db } from "../database/tables.ts";
import { isForgettable } from "../webhooks/retention.ts";

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

export type ErasedPayment = {
  readonly paymentId: string;
  /** Its events up to this number are gone, however they went. */
  readonly sequence: number;
};

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
export async function eraseReference(
  db: Db,
  { merchant, reference, after, atMost }: Reference,
): Promise<ErasedReference> {
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
    delete from events e where e.merchant = ${merchant} and e.resource_id = any(${ids}) and ${isForgettable()}`.execute(
    db,
  );
  const kept = await sql<{ kept: number }>`
    select count(*)::integer as kept from events where merchant = ${merchant} and resource_id = any(${ids})`.execute(
    db,
  );
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
      and not exists (select from events e where e.merchant = p.merchant and e.resource_id = p.payment_id)`.execute(
    db,
  );
  return Number(numAffectedRows);
}
