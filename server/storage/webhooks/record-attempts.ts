import { type RawBuilder, sql } from "kysely";
import { MAX_TIMEOUTS, type Pace } from "../../domain/delivery-fairness.ts";
import {
  CIRCUMSTANCES,
  type Circumstance,
  endsSubscription,
  type NextDelivery,
  nextDelivery,
  type Outcome,
} from "../../domain/delivery-outcome.ts";
import type { Db, Values } from "../database/db-types.ts";
import type { Attempt, Claim } from "./claim-deliveries.ts";

/**
 * Writes the results of attempts and the next state of each delivery, by one statement, where the fence and the lease still hold:
 * otherwise another server has the delivery, or will have it. A receiver that refuses all further deliveries ends its subscription;
 * `endSomeDeliveries` ends those that wait for it, because there may be many.
 *
 * The commit does not wait for the disk: results that a crash of the database loses leave their deliveries claimed, and they
 * are sent again when the lease has run out. A claim does wait, because a lost one could be sent twice at the same time.
 * @returns the webhookIds of the results that were written
 */
export async function recordAttempts(db: Db, attempts: readonly EndedAttempt[]): Promise<Set<string>> {
  const { rows: results, ...next } = toResults(attempts);
  const { rows } = await recordStatement({ rows: JSON.stringify(results), ...next }).execute(db);
  return new Set(rows.map((row) => row.webhook_id));
}

export type AttemptResult = {
  /** Real time at which the attempt began. */
  readonly at: Date;
  /** Null when there was no response. */
  readonly status: number | null;
  /** Null only for success. */
  readonly error: string | null;
  readonly milliseconds: number;
  /** The first 1,024 bytes of the response's body. */
  readonly bodyStart: string | null;
  readonly outcome: Outcome;
};

/** An attempt with its result, and when it ended (real time). The next one is due some time after that, in domain time (D23, D30). */
export type EndedAttempt = Claim &
  Pick<Attempt, "earlierAttempts"> &
  AttemptResult & { readonly endedAt: Date };

/**
 * The results of attempts as `json_to_recordset` reads them. What happened to a delivery during its attempt is known only to
 * the statement, so it gets the next state for each of `CIRCUMSTANCES`, in their order. Results with
 * the same next states share a list of them; each row has the index at which its list begins.
 */
export function toResults(attempts: readonly EndedAttempt[]) {
  const begins = new Map<string, number>();
  const next: NextDelivery[] = [];
  const rows = attempts.map((attempt) => {
    const { outcome, earlierAttempts } = attempt;
    const key = outcome.kind === "retry" ? `${outcome.afterMs}` : outcome.kind;
    const begin = begins.get(key) ?? next.length;
    if (begin === next.length)
      next.push(...CIRCUMSTANCES.map((one) => nextDelivery(outcome, earlierAttempts + 1, one)));
    begins.set(key, begin);
    return { ...toRow(attempt), next: begin };
  });
  rows.sort((a, b) => (a.webhook_id < b.webhook_id ? -1 : 1));
  return {
    rows,
    states: next.map(({ state }) => state),
    onlyOnce: next.map(({ onlyOnce }) => onlyOnce),
    dueAfterMs: next.map(({ dueAfterMs }) => dueAfterMs),
  };
}

function toRow(attempt: EndedAttempt) {
  return {
    webhook_id: attempt.webhookId,
    merchant: attempt.merchant,
    fence: attempt.fence,
    attempts: attempt.earlierAttempts + 1,
    ends_subscription: endsSubscription(attempt.outcome),
    ended_at: attempt.endedAt,
    at: attempt.at,
    status: attempt.status,
    error: attempt.error,
    milliseconds: attempt.milliseconds,
    response: attempt.bodyStart,
  };
}

/** What `toResults` returns, the rows in JSON. */
type RecordParts = Values<Omit<ReturnType<typeof toResults>, "rows"> & { rows: string }>;

/**
 * The deliveries are locked in the order of their ids, so two such statements never wait for each other; and
 * both parts look them up by id, because a plan that reads the whole table would outlive the day on which the table was small.
 * For the same reason the condition on the lease is written so that the index of all deliveries in progress does not fit it.
 * A comparison with an array of one id can only be looked up; one with all ids would be sorted again for each row.
 */
export function recordStatement(parts: RecordParts): RawBuilder<{ webhook_id: string }> {
  const { rows, states, onlyOnce, dueAfterMs } = parts;
  const next = sql`r.next + case
    when d.redelivery_requested then ${indexOf("redelivery")}
    when s.ended_at is not null
      or (r.merchant, r.subscription_key) in (select merchant, subscription_key from held where ends_subscription)
      then ${indexOf("subscription-ended")}
    when d.only_once then ${indexOf("only-once")}
    else ${indexOf("undisturbed")} end`;
  return sql`
    with held as (
      select r.*, d.subscription_key
      from (select set_config('synchronous_commit', 'off', true)) as commits_late,
        json_to_recordset(${rows}::json) as r (webhook_id text, merchant text, fence integer, next integer,
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
        state = (${states}::text[])[${next}],
        attempts = r.attempts,
        only_once = d.only_once or (${onlyOnce}::boolean[])[${next}],
        due_at = r.domain_now + (${dueAfterMs}::bigint[])[${next}] * interval '1 ms'
      from (
        select *, ended_at + coalesce((select offset_ms from clock), 0) * interval '1 ms' as domain_now from held
      ) as r
      join subscriptions s on s.subscription_key = r.subscription_key and s.merchant = r.merchant
      where d.webhook_id = any(array[r.webhook_id]) and d.merchant = any(array[r.merchant])
      returning r.*
    ), attempt as (
      insert into delivery_attempts (webhook_id, merchant, number, at, domain_at, status, error, milliseconds, response)
      select webhook_id, merchant, attempts, at, domain_now, status, error, milliseconds, response from recorded
    ), ended as (
      update subscriptions s
      set ended_at = recorded.domain_now, secret_ciphertext = null, old_secret_ciphertext = null
      from recorded
      where recorded.ends_subscription and s.subscription_key = recorded.subscription_key
        and s.merchant = recorded.merchant and s.ended_at is null
    )
    select webhook_id from recorded`;
}

/** The position of a circumstance among the states that `toResults` lists for a result; PostgreSQL counts from 1. */
function indexOf(circumstance: Circumstance) {
  return sql.lit(CIRCUMSTANCES.indexOf(circumstance) + 1);
}

/**
 * Counts the consecutive timeouts of a subscription, as `nextTimeouts` does, from the number that is stored: attempts of other
 * servers may have ended meanwhile.
 */
export async function recordPace(
  db: Db,
  { merchant, subscriptionKey, pace }: { merchant: string; subscriptionKey: string; pace: Pace },
): Promise<void> {
  const next = {
    silent: sql`least(coalesce(timeouts, 0) + 1, ${MAX_TIMEOUTS}::integer)`,
    slow: sql`1`,
    quick: sql`0`,
  }[pace];
  await sql`
    update subscriptions set timeouts = ${next}
    where subscription_key = ${subscriptionKey} and merchant = ${merchant} and timeouts is distinct
    from ${next}`.execute(db);
}
