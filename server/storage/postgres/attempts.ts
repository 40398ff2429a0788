import { sql } from "kysely";
import { CIRCUMSTANCES, type Circumstance } from "../../domain/delivery-outcome.ts";
import type { Store } from "../database/tables.ts";
import { type EndedAttempt, toResults } from "../statements/attempts.ts";

/**
 * By one statement. The deliveries are locked in the order of their ids, so two such statements never wait for each other; and
 * both parts look them up by id, because a plan that reads the whole table would outlive the day on which the table was small.
 * For the same reason the condition on the lease is written so that the index of all deliveries in progress does not fit it.
 */
export async function recordAttempts(store: Store, attempts: readonly EndedAttempt[]): Promise<Set<string>> {
  const { rows: results, states } = toResults(attempts);
  results.sort((a, b) => (a.webhook_id < b.webhook_id ? -1 : 1));
  const next = sql`r.next + case
    when d.redelivery_requested then ${indexOf("redelivery")}
    when s.ended_at is not null
      or (r.merchant, r.subscription_key) in (select merchant, subscription_key from held where ends_subscription)
      then ${indexOf("subscription-ended")}
    when d.only_once then ${indexOf("only-once")}
    else ${indexOf("undisturbed")} end`;
  const { rows } = await sql<{ webhook_id: string }>`
    with held as (
      select r.*, d.subscription_key
      from (select set_config('synchronous_commit', 'off', true)) as commits_late,
        json_to_recordset(${JSON.stringify(results)}::json) as r (webhook_id text, merchant text, fence integer, next integer,
          attempts integer, ends_subscription boolean, ended_at timestamptz, at timestamptz, status integer, error text,
          milliseconds integer, response text),
        lateral (
          select d.subscription_key from deliveries d
          where d.webhook_id = r.webhook_id and d.merchant = r.merchant
            and d.fence = r.fence and d.sending and coalesce(d.leased_until > clock_timestamp(), false)
          for update
        ) as d
    ), recorded as (
      update deliveries d set
        leased_until = null, sending = false, redelivery_requested = false,
        state = (${states.map(({ state }) => state)}::text[])[${next}],
        attempts = r.attempts,
        only_once = d.only_once or (${states.map(({ onlyOnce }) => onlyOnce)}::boolean[])[${next}],
        due_at = r.domain_now + (${states.map(({ dueAfterMs }) => dueAfterMs)}::bigint[])[${next}] * interval '1 ms'
      from (
        select held.*, ended_at + coalesce((select offset_ms from clock), 0) * interval '1 ms' as domain_now
        from held
      ) as r
      join subscriptions s on s.subscription_key = r.subscription_key and s.merchant = r.merchant
      where d.webhook_id = any(array(select webhook_id from held)) and d.merchant = any(array(select merchant from held))
        and d.webhook_id = r.webhook_id
      returning r.*
    ), attempt as (
      insert into delivery_attempts
        (webhook_id, merchant, number, at, domain_at, status, error, milliseconds, response)
      select webhook_id, merchant,
        1 + coalesce((select max(number) from delivery_attempts a
          where a.webhook_id = recorded.webhook_id and a.merchant = recorded.merchant), 0),
        at, domain_now, status, error, milliseconds, response
      from recorded
    ), ended as (
      update subscriptions s
      set ended_at = recorded.domain_now, secret_ciphertext = null, old_secret_ciphertext = null
      from recorded
      where recorded.ends_subscription and s.subscription_key = recorded.subscription_key
        and s.merchant = recorded.merchant and s.ended_at is null
    )
    select webhook_id from recorded`.execute(store);
  return new Set(rows.map((row) => row.webhook_id));
}

/** After how many others a circumstance has its state in the lists of `toResults`; PostgreSQL counts from 1. */
function indexOf(circumstance: Circumstance) {
  return sql.lit(CIRCUMSTANCES.indexOf(circumstance) + 1);
}
