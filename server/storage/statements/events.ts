import { type RawBuilder, sql } from "kysely";
import type { EventMessage } from "../../domain/events.ts";
import type { TraceContext } from "../../domain/trace-context.ts";

/** An event to be written in the transaction that changes the status (D20a). */
export type NewEvent = EventMessage<string> & {
  readonly merchant: string;
  readonly resourceId: string;
  readonly sequence: number;
  readonly occurredAt: Date;
  readonly trace?: TraceContext | undefined;
};

/** The traces of events as a list of texts. */
export function tracesOf(events: readonly NewEvent[]): (string | null)[] {
  return events.map(({ trace }) => (trace ? JSON.stringify(trace) : null));
}

/**
 * The id of the delivery of an event `e`. It begins with the time in the event's id, so deliveries can be listed in order of
 * their ids. It contains no dot, because the signature joins id, timestamp and body by dots (D22).
 */
export function newWebhookId(): RawBuilder<unknown> {
  return sql`'msg_' || substr(e.event_id, 5, 18) || substr(gen_random_uuid()::text, 19)`;
}

/** Whether a subscription `s` is live and matches an event `e` (D20a). */
export function isSubscribed(): RawBuilder<boolean> {
  return sql`s.ended_at is null and case s.type
    when 'EVENT' then e.type = any(s.details)
    when 'CATEGORY' then e.category = any(s.details)
    else true end`;
}

/** The channel that notifies servers of new deliveries. */
export const DELIVERIES_CHANNEL = "deliveries";

/**
 * Wakes the dispatchers of all servers when the transaction commits.
 *
 * @param merchant whose deliveries they should look for; without it they look for all
 */
export function notify(merchant = sql`''`): RawBuilder<unknown> {
  return sql`pg_notify(${DELIVERIES_CHANNEL}::text, ${merchant})`;
}

/**
 * The rest of a `with` clause that writes the deliveries of new events: one for each live subscription that matches the event
 * (D20a), due at once. The statement must select from `notified` at its end; otherwise no server is notified.
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
