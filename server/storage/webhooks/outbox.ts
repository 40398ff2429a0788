import { type RawBuilder, sql } from "kysely";
import { categoryOf, type EventMessage, type ResourceEventType, resourceEvent } from "../../domain/events.ts";
import { createEventId } from "../../domain/ids.ts";
import type { Store } from "../database/tables.ts";
import { inBatches, isDistributed } from "../distributed/citus.ts";

/** An event to be written in the transaction that changes the status (D20a). */
export type NewEvent = EventMessage & {
  readonly merchant: string;
  readonly resourceId: string;
  readonly sequence: number;
  readonly occurredAt: Date;
};

/** Writes events and their deliveries (D20a), all by one statement. */
export async function insertEvents(store: Store, events: readonly NewEvent[]): Promise<void> {
  if (events.length === 0) return;
  if (isDistributed(store)) {
    await inBatches(store, events, (some) => insertOnOneMachine(store, some));
    return;
  }
  await sql`
    with source as (
      select * from unnest(
        ${events.map(createEventId)}::text[],
        ${events.map((event) => event.merchant)}::text[],
        ${events.map((event) => event.type)}::text[],
        ${events.map((event) => categoryOf(event.type))}::text[],
        ${events.map((event) => event.resourceId)}::text[],
        ${events.map((event) => event.sequence)}::integer[],
        ${events.map((event) => event.occurredAt.toISOString())}::timestamptz[],
        ${events.map((event) => event.payload)}::text[]
      ) as source (event_id, merchant, type, category, resource_id, sequence, occurred_at, payload)
    ), event as (
      insert into events (event_id, merchant, type, resource_id, sequence, occurred_at, payload)
      select event_id, merchant, type, resource_id, sequence, occurred_at, payload from source
    ), ${writeDeliveries(sql`source`)}
    select count(*) from notified`.execute(store);
}

/** The same for events of one merchant in distributed tables, in a transaction. */
async function insertOnOneMachine(store: Store, events: readonly NewEvent[]): Promise<[]> {
  const merchant = events[0]?.merchant ?? "";
  const ids = events.map(createEventId);
  await sql`
    insert into events (event_id, merchant, type, resource_id, sequence, occurred_at, payload)
    select event_id, ${merchant}, type, resource_id, sequence, occurred_at, payload from unnest(
      ${ids}::text[],
      ${events.map((event) => event.type)}::text[],
      ${events.map((event) => event.resourceId)}::text[],
      ${events.map((event) => event.sequence)}::integer[],
      ${events.map((event) => event.occurredAt.toISOString())}::timestamptz[],
      ${events.map((event) => event.payload)}::text[]
    ) as source (event_id, type, resource_id, sequence, occurred_at, payload)`.execute(store);
  const { numAffectedRows } = await sql`
    insert into deliveries (webhook_id, event_id, merchant, subscription_key, due_at)
    select ${newWebhookId()}, e.event_id, s.merchant, s.subscription_key, e.occurred_at
    from unnest(
      ${ids}::text[],
      ${events.map((event) => event.type)}::text[],
      ${events.map((event) => categoryOf(event.type))}::text[],
      ${events.map((event) => event.occurredAt.toISOString())}::timestamptz[]
    ) as e (event_id, type, category, occurred_at)
    join subscriptions s on s.merchant = ${merchant} and ${isSubscribed()}`.execute(store);
  if (numAffectedRows !== 0n) await wakeDispatchers(store, merchant);
  return [];
}

/** First half of the advisory lock's key, which keeps it apart from other advisory locks. */
const LOCK_CLASS = 20;

/**
 * Writes the next event of an account or customer, which have no record that could count their events (D20).
 *
 * @returns its number among the events of that resource, from 1
 */
export async function emitResourceEvent(
  store: Store,
  {
    merchant,
    type,
    resourceId,
    now,
  }: { merchant: string; type: ResourceEventType; resourceId: string; now: Date },
): Promise<number> {
  return store.transaction().execute(async (transaction) => {
    const resource = `${merchant} ${resourceKind(type)} ${resourceId}`;
    await sql`select pg_advisory_xact_lock(${LOCK_CLASS}::integer, hashtext(${resource}))`.execute(
      transaction,
    );
    const { rows } = await sql<{ sequence: number }>`
      select coalesce(max(sequence), 0)::integer + 1 as sequence from events
      where resource_id = ${resourceId} and merchant = ${merchant}
        and split_part(type, '.', 1) = ${resourceKind(type)}`.execute(transaction);
    const sequence = rows[0]?.sequence ?? 1;
    const event = resourceEvent(type, resourceId, { at: now, sequence });
    await insertEvents(transaction, [{ ...event, merchant, resourceId, sequence, occurredAt: now }]);
    return sequence;
  });
}

function resourceKind(type: ResourceEventType): string {
  return type.slice(0, type.indexOf("."));
}

/** The channel that notifies servers of new deliveries. */
export const DELIVERIES_CHANNEL = "deliveries";

/**
 * The rest of a `with` clause that writes the deliveries of new events: one for each live subscription that matches the
 * event (D20a), due at once. The statement must select from `notified` at its end; otherwise no server is notified.
 *
 * A webhook id begins with the time in its event's id, so deliveries can be listed in order of their ids. It contains no
 * dot, because the signature joins id, timestamp and body by dots (D22).
 *
 * @param events the new events: `event_id`, `merchant`, `type`, `category`, `occurred_at`
 */
export function writeDeliveries(events: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`delivery as (
      insert into deliveries (webhook_id, event_id, merchant, subscription_key, due_at)
      select ${newWebhookId()}, e.event_id, e.merchant, s.subscription_key, e.occurred_at
      from ${events} as e
      join subscriptions s on s.merchant = e.merchant and ${isSubscribed()}
      returning merchant
    ), notified as (
      select ${notify(sql`merchant`)} from (select distinct merchant from delivery) as written
    )`;
}

/** The id of the delivery of an event `e`. */
function newWebhookId(): RawBuilder<unknown> {
  return sql`'msg_' || substr(e.event_id, 5, 18) || substr(gen_random_uuid()::text, 19)`;
}

/** Whether a subscription `s` is live and matches an event `e`. */
function isSubscribed(): RawBuilder<boolean> {
  return sql`s.ended_at is null and case s.type
    when 'EVENT' then e.type = any(s.details)
    when 'CATEGORY' then e.category = any(s.details)
    else true end`;
}

/** More bytes than a merchant's name has; a notification has room for some thousand. */
const MAX_NAME_BYTES = 1_000;

/**
 * Wakes the dispatchers of all servers when the transaction commits.
 *
 * @param merchant whose deliveries they should look for; without it they look for all
 */
export function notify(merchant = sql`''`): RawBuilder<unknown> {
  return sql`pg_notify(${DELIVERIES_CHANNEL}::text,
    case when octet_length(${merchant}) <= ${MAX_NAME_BYTES}::integer then ${merchant} else '' end)`;
}

/**
 * The same by a statement of its own, because a notification that is sent on a machine with distributed tables does not leave
 * it. If it fails, the servers find the deliveries by themselves, a second later.
 */
export async function wakeDispatchers(store: Store, merchant?: string): Promise<void> {
  await sql`select ${notify(sql`${merchant ?? ""}::text`)}`.execute(store);
}
