import { type RawBuilder, sql } from "kysely";
import { categoryOf } from "../../domain/events.ts";
import { createEventId } from "../../domain/ids.ts";
import type { Store } from "../database/tables.ts";
import { type NewEvent, notify, tracesOf, writeDeliveries } from "../statements/events.ts";

/** All by one statement. */
export async function insertEvents(store: Store, events: readonly NewEvent[]): Promise<void> {
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
        ${events.map((event) => event.payload)}::text[],
        ${tracesOf(events)}::text[]
      ) as source (event_id, merchant, type, category, resource_id, sequence, occurred_at, payload, trace)
    ), event as (
      insert into events (event_id, merchant, type, resource_id, sequence, occurred_at, payload, trace)
      select event_id, merchant, type, resource_id, sequence, occurred_at, payload, trace::jsonb from source
    ), ${writeDeliveries(sql`source`)}
    select count(*) from notified`.execute(store);
}

/** By one statement. */
export async function changeAndNotify<Row>(store: Store, change: RawBuilder<Row>): Promise<Row[]> {
  const { rows } = await sql<Row>`
    with changed as (${change}), notified as (select ${notify()} from changed limit 1)
    select * from changed where (select count(*) from notified) = 1`.execute(store);
  return rows;
}
