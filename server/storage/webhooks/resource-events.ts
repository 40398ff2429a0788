import { sql } from "kysely";
import {
  type EventMessage,
  type ResourceEventType,
  resourceEvent,
  resourceKind,
} from "../../domain/events.ts";
import { ADVISORY_LOCKS } from "../database/advisory-locks.ts";
import type { Store } from "../database/tables.ts";
import { insertEvents } from "../statements/statements.ts";

type Resource = { readonly merchant: string; readonly resourceId: string };

/**
 * Writes the next event of an account or customer, which have no record that could count their events (D20).
 *
 * @returns its number among the events of that resource, from 1
 */
export async function emitResourceEvent(
  store: Store,
  { type, now, ...resource }: Resource & { type: ResourceEventType; now: Date },
): Promise<number> {
  return store.transaction().execute(async (transaction) => {
    const sequence = await nextSequence(transaction, resource, resourceKind(type));
    const event = resourceEvent(type, resource.resourceId, { at: now, sequence });
    await insertEvents(transaction, [{ ...event, ...resource, sequence, occurredAt: now }]);
    return sequence;
  });
}

/** Writes a further event of any resource, which counts like its others. For the sandbox, which plays later versions. */
export async function emitFurtherEvent(
  store: Store,
  {
    kind,
    now,
    toMessage,
    ...resource
  }: Resource & { kind: string; now: Date; toMessage: (sequence: number) => EventMessage<string> },
): Promise<void> {
  await store.transaction().execute(async (transaction) => {
    const counted = await transaction
      .updateTable("payments")
      .set((column) => ({ sequence: column("sequence", "+", 1) }))
      .where("payment_id", "=", resource.resourceId)
      .where("merchant", "=", resource.merchant)
      .returning("sequence")
      .executeTakeFirst();
    const sequence = counted?.sequence ?? (await nextSequence(transaction, resource, kind));
    await insertEvents(transaction, [{ ...toMessage(sequence), ...resource, sequence, occurredAt: now }]);
  });
}

async function nextSequence(
  transaction: Store,
  { merchant, resourceId }: Resource,
  kind: string,
): Promise<number> {
  const resource = `${merchant} ${kind} ${resourceId}`;
  await sql`select pg_advisory_xact_lock(${ADVISORY_LOCKS.resourceEvent}::integer, hashtext(${resource}))`.execute(
    transaction,
  );
  const { rows } = await sql<{ sequence: number }>`
    select coalesce(max(sequence), 0)::integer + 1 as sequence from events
    where resource_id = ${resourceId} and merchant = ${merchant}
      and split_part(type, '.', 1) = ${kind}`.execute(transaction);
  return rows[0]?.sequence ?? 1;
}
