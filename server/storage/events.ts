import { sql } from "kysely";
import type { EventMessage } from "../domain/events.ts";
import { createEventId } from "../domain/ids.ts";
import type { Store } from "./tables.ts";

/** An event to be written in the transaction that made it happen (D20a). */
export type NewEvent = EventMessage & {
  readonly merchant: string;
  readonly resourceId: string;
  readonly sequence: number;
  readonly occurredAt: Date;
};

/** Writes events into the outbox, all by one statement. */
export async function insertEvents(store: Store, events: readonly NewEvent[]): Promise<void> {
  if (events.length === 0) return;
  await sql`
    insert into events (event_id, merchant, type, resource_id, sequence, occurred_at, payload)
    select * from unnest(
      ${events.map(createEventId)}::text[],
      ${events.map((event) => event.merchant)}::text[],
      ${events.map((event) => event.type)}::text[],
      ${events.map((event) => event.resourceId)}::text[],
      ${events.map((event) => event.sequence)}::integer[],
      ${events.map((event) => event.occurredAt.toISOString())}::timestamptz[],
      ${events.map((event) => event.payload)}::text[]
    )`.execute(store);
}
