import { sql } from "kysely";
import { categoryOf, type EventMessage, type ResourceEventType, resourceEvent } from "../domain/events.ts";
import { createEventId } from "../domain/ids.ts";
import { writeDeliveries } from "./deliveries.ts";
import type { Store } from "./tables.ts";

/** An event to be written in the transaction that made it happen (D20a). */
export type NewEvent = EventMessage & {
  readonly merchant: string;
  readonly resourceId: string;
  readonly sequence: number;
  readonly occurredAt: Date;
};

/** Writes events and their deliveries (D20a), all by one statement. */
export async function insertEvents(store: Store, events: readonly NewEvent[]): Promise<void> {
  if (events.length === 0) return;
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

/** First half of the advisory lock's key, so that no other use of advisory locks meets it. */
const LOCK_CLASS = 20;

/**
 * Writes the next event of an account or customer, which have no record of their own to count on (D20).
 *
 * @returns its place among the events of that resource, from 1
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
