import { type RawBuilder, sql } from "kysely";

/** The channel on which it is told that deliveries were written or have come due. */
export const DELIVERIES_CHANNEL = "deliveries";

/**
 * The rest of a `with` clause that writes the deliveries of new events: one for each live subscription that asked for
 * the event (D20a), due at once. The statement must select from `notified` at its end, or nobody is woken.
 *
 * A webhook id begins with the time in its event's id, so deliveries can be listed in order of their ids, and holds no
 * point: the signature is made over ids joined by points (D22).
 *
 * @param events the new events: `event_id`, `merchant`, `type`, `category`, `occurred_at`
 */
export function writeDeliveries(events: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`delivery as (
      insert into deliveries (webhook_id, event_id, merchant, subscription_key, due_at)
      select 'msg_' || substr(e.event_id, 5, 18) || substr(gen_random_uuid()::text, 19),
        e.event_id, e.merchant, s.subscription_key, e.occurred_at
      from ${events} as e
      join subscriptions s on s.merchant = e.merchant and s.ended_at is null and case s.type
        when 'EVENT' then e.type = any(s.details)
        when 'CATEGORY' then e.category = any(s.details)
        else true end
      returning webhook_id
    ), notified as (
      select ${notify()} from (select from delivery limit 1) as written
    )`;
}

/** Wakes the dispatchers of all servers, when the transaction commits. */
export function notify(): RawBuilder<unknown> {
  return sql`pg_notify(${DELIVERIES_CHANNEL}::text, '')`;
}
