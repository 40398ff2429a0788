import { sql } from "kysely";
import { type ResourceEventType, resourceEvent } from "../../domain/events.ts";
import { ADVISORY_LOCKS } from "../database/advisory-locks.ts";
import type { Store } from "../database/tables.ts";
import { insertEvents } from "../statements/statements.ts";

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
    await sql`select pg_advisory_xact_lock(${ADVISORY_LOCKS.resourceEvent}::integer, hashtext(${resource}))`.execute(
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
