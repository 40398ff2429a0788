import { type RawBuilder, sql } from "kysely";
import {
  categoryOf,
  type EventMessage,
  type EventType,
  type ResourceEventType,
  resourceEvent,
  resourceKind,
} from "../../domain/event-payloads.ts";
import { createEventId } from "../../domain/ids.ts";
import type { TraceContext } from "../../domain/trace-context.ts";
import type { Db } from "../database/db-types.ts";
import { notify } from "../database/listen-notify.ts";
import { fromCursor, type Page, type PageOf, toPage } from "../database/pagination.ts";
import { waitForTurn } from "../database/turn-locks.ts";

/** Writes events of a merchant and one delivery for each live subscription that matches (D20), and notifies the servers. */
export async function insertEvents(db: Db, merchant: string, events: readonly NewEvent[]): Promise<void> {
  if (events.length === 0) return;
  const ids = events.map(createEventId);
  const types = events.map(({ type }) => type);
  const times = events.map(({ occurredAt }) => occurredAt.toISOString());
  await sql`
    insert into events (event_id, merchant, type, resource_id, sequence, occurred_at, payload, trace)
    select event_id, ${merchant}, type, resource_id, sequence, occurred_at, payload, trace::jsonb from unnest(
      ${ids}::text[],
      ${types}::text[],
      ${events.map((event) => event.resourceId)}::text[],
      ${events.map((event) => event.sequence)}::integer[],
      ${times}::timestamptz[],
      ${events.map((event) => event.payload)}::text[],
      ${events.map(({ trace }) => (trace ? JSON.stringify(trace) : null))}::text[]
    ) as source (event_id, type, resource_id, sequence, occurred_at, payload, trace)`.execute(db);
  const { numAffectedRows } = await sql`
    insert into deliveries (webhook_id, event_id, merchant, subscription_key, due_at)
    select ${newWebhookId}, e.event_id, s.merchant, s.subscription_key, e.occurred_at
    from unnest(
      ${ids}::text[], ${types}::text[], ${types.map(categoryOf)}::text[], ${times}::timestamptz[]
    ) as e (event_id, type, category, occurred_at)
    join subscriptions s on s.merchant = ${merchant} and ${isSubscribed}`.execute(db);
  if (numAffectedRows !== 0n) await sql`select ${notify(DELIVERIES_CHANNEL, merchant)}`.execute(db);
}

/** An event to be written in the transaction that changes the status (D20). */
export type NewEvent = EventMessage<string> & {
  readonly resourceId: string;
  readonly sequence: number;
  readonly occurredAt: Date;
  readonly trace?: TraceContext | undefined;
};

/** The channel that notifies servers of the merchants with new deliveries; the empty text stands for all. */
export const DELIVERIES_CHANNEL = "deliveries";

/**
 * The id of the delivery of an event `e`. It begins with the time in the event's id, so deliveries can be listed in order of
 * their ids. It contains no dot, because the signature joins id, timestamp and body by dots (D22).
 */
const newWebhookId = sql`'msg_' || substr(e.event_id, 5, 18) || substr(gen_random_uuid()::text, 19)`;

/** Whether a subscription `s` is live and matches an event `e` (D20). */
const isSubscribed = sql`s.ended_at is null and case s.type
    when 'EVENT' then e.type = any(s.details)
    when 'CATEGORY' then e.category = any(s.details)
    else true end`;

/**
 * The rest of a `with` clause that writes the deliveries of new events: one for each live subscription that matches the event
 * (D20), due at once. The statement must select from `notified` at its end; otherwise no server is notified.
 * @param events the new events: `event_id`, `merchant`, `type`, `category`, `occurred_at`
 */
export function writeDeliveries(events: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`delivery as (
      insert into deliveries (webhook_id, event_id, merchant, subscription_key, due_at)
      select ${newWebhookId}, e.event_id, e.merchant, s.subscription_key, e.occurred_at
      from ${events} as e
      join subscriptions s on s.merchant = e.merchant and ${isSubscribed}
      returning merchant
    ), notified as (
      select ${notify(DELIVERIES_CHANNEL, sql`merchant`)} from (select distinct merchant from delivery) as written
    )`;
}

type Resource = { readonly merchant: string; readonly resourceId: string };

/**
 * Writes the next event of an account or customer, which have no record that could count their events (D20).
 * @returns its number among the events of that resource, from 1
 */
export async function emitResourceEvent(
  db: Db,
  { type, now, merchant, resourceId }: Resource & { type: ResourceEventType; now: Date },
): Promise<number> {
  return db.transaction().execute(async (transaction) => {
    const sequence = await nextSequence(transaction, { merchant, resourceId }, resourceKind(type));
    const event = resourceEvent(type, resourceId, { at: now, sequence });
    await insertEvents(transaction, merchant, [{ ...event, resourceId, sequence, occurredAt: now }]);
    return sequence;
  });
}

type FurtherEvent = Resource & {
  readonly kind: string;
  readonly now: Date;
  readonly toMessage: (sequence: number) => EventMessage<string>;
};

/** Writes a further event of any resource, which counts like its others. For the sandbox, which plays later versions. */
export async function emitFurtherEvent(db: Db, { kind, now, toMessage, merchant, resourceId }: FurtherEvent) {
  await db.transaction().execute(async (transaction) => {
    const { rows } = await sql<{ sequence: number }>`
      update payments set sequence = sequence + 1 where payment_id = ${resourceId} and merchant = ${merchant}
      returning sequence`.execute(transaction);
    const sequence = rows[0]?.sequence ?? (await nextSequence(transaction, { merchant, resourceId }, kind));
    const event = { ...toMessage(sequence), resourceId, sequence, occurredAt: now };
    await insertEvents(transaction, merchant, [event]);
  });
}

async function nextSequence(transaction: Db, { merchant, resourceId }: Resource, kind: string) {
  await waitForTurn(transaction, "resource event", `${merchant} ${kind} ${resourceId}`);
  const { rows } = await sql<{ sequence: number }>`
    select coalesce(max(sequence), 0)::integer + 1 as sequence from events
    where resource_id = ${resourceId} and merchant = ${merchant}
      and split_part(type, '.', 1) = ${kind}`.execute(transaction);
  return rows[0]?.sequence ?? 1;
}

/** An event, with the text that is sent. Domain time (D30). */
export type EventRecord = {
  readonly eventId: string;
  readonly type: EventType;
  readonly resourceId: string;
  readonly sequence: number;
  readonly occurredAt: Date;
  readonly payload: string;
};

/** The events of a merchant, newest first. */
export async function listEvents(
  db: Db,
  { merchant, resourceId = null, limit, cursor }: PageOf & { resourceId?: string | null | undefined },
): Promise<Page<EventRecord> | "invalid-cursor"> {
  const before = fromCursor(cursor, "evt_");
  if (before === "invalid-cursor") return before;
  const { rows } = await sql<EventRecord>`
    select event_id as "eventId", type, resource_id as "resourceId", sequence, occurred_at as "occurredAt", payload
    from events
    where merchant = ${merchant}
      and (${resourceId}::text is null or resource_id = ${resourceId}::text)
      and (${before}::text is null or event_id < ${before}::text)
    order by event_id desc
    limit ${limit + 1}`.execute(db);
  return toPage(rows, limit, ({ eventId }) => eventId);
}
