import { type RawBuilder, sql } from "kysely";
import { categoryOf } from "../../domain/events.ts";
import { createEventId } from "../../domain/ids.ts";
import type { Store } from "../database/tables.ts";
import { isSubscribed, type NewEvent, newWebhookId, notify, tracesOf } from "../statements/events.ts";
import { inBatches } from "./batches.ts";

export async function insertEvents(store: Store, events: readonly NewEvent[]): Promise<void> {
  await inBatches(events, (some) => insertOnOneMachine(store, some));
}

/** In a transaction. */
async function insertOnOneMachine(store: Store, events: readonly NewEvent[]): Promise<[]> {
  const merchant = events[0]?.merchant ?? "";
  const ids = events.map(createEventId);
  await sql`
    insert into events (event_id, merchant, type, resource_id, sequence, occurred_at, payload, trace)
    select event_id, ${merchant}, type, resource_id, sequence, occurred_at, payload, trace::jsonb from unnest(
      ${ids}::text[],
      ${events.map((event) => event.type)}::text[],
      ${events.map((event) => event.resourceId)}::text[],
      ${events.map((event) => event.sequence)}::integer[],
      ${events.map((event) => event.occurredAt.toISOString())}::timestamptz[],
      ${events.map((event) => event.payload)}::text[],
      ${tracesOf(events)}::text[]
    ) as source (event_id, type, resource_id, sequence, occurred_at, payload, trace)`.execute(store);
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

/** The change is stored, so its caller gets no error if the notification fails. */
export async function changeAndNotify<Row>(store: Store, change: RawBuilder<Row>): Promise<Row[]> {
  const { rows } = await change.execute(store);
  if (rows.length > 0) await wakeDispatchers(store).catch(() => {});
  return rows;
}

/** It reaches those who listen on the same machine. The others find the deliveries by themselves, a second later. */
async function wakeDispatchers(store: Store, merchant?: string): Promise<void> {
  await sql`select ${notify(sql`${merchant ?? ""}::text`)}`.execute(store);
}
