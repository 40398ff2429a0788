import { sql } from "kysely";
import {
  CIRCUMSTANCES,
  type Circumstance,
  endsSubscription,
  nextDelivery,
  type Outcome,
} from "../../domain/deliveries.ts";
import { MAX_TIMEOUTS } from "../../domain/fair-shares.ts";
import type { Store } from "../database/tables.ts";
import { inBatches, isDistributed } from "../distributed/citus.ts";
import { callFunction } from "../distributed/functions.ts";
import type { Attempt, Claim } from "./claims.ts";

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

/** An attempt with its result. The next attempt is due some time after the end of this one, in domain time (D23, D30). */
export type EndedAttempt = Claim &
  Pick<Attempt, "earlierAttempts"> &
  AttemptResult & {
    /** Real time. */
    readonly endedAt: Date;
  };

/**
 * Writes the results of attempts and the next state of each delivery, by one statement, where the fence and the lease still
 * hold. A server that was paused past its lease writes nothing: another one has the delivery, or will have it.
 *
 * `nextDelivery` decides the next state. What happened to a delivery during its attempt is known only to the statement, so
 * it gets the next state for every circumstance, and stores the one that applies.
 *
 * The deliveries are locked in the order of their ids, so two such statements never wait for each other; and both parts look
 * them up by id, because a plan that reads the whole table would outlive the day on which the table was small. For the same
 * reason the condition on the lease is written so that the index of all deliveries in progress does not fit it.
 *
 * The commit does not wait for the disk: results that a crash of the database loses leave their deliveries claimed, and they
 * are sent again when the lease has run out. A claim does wait, because a lost one could be sent twice at the same time.
 *
 * A receiver that refuses all further deliveries ends its subscription here. The waiting deliveries of that subscription are
 * ended by `endSomeDeliveries`, because there may be many, and the results of other attempts must not wait for them.
 *
 * @returns the webhookIds of the results that were written
 */
export async function recordAttempts(store: Store, attempts: readonly EndedAttempt[]): Promise<Set<string>> {
  if (isDistributed(store)) {
    const recorded = await inBatches(store, attempts, (some) => recordOnOneMachine(store, some));
    return new Set(recorded.filter((webhookId) => webhookId !== undefined));
  }
  const results = attempts.map(toResultRow).sort((a, b) => (a.webhook_id < b.webhook_id ? -1 : 1));
  const next = sql`(r.next -> case
    when d.again then ${"redelivery" satisfies Circumstance}::text
    when s.ended_at is not null or r.subscription_ends then ${"subscription-ended" satisfies Circumstance}::text
    when d.forced then ${"only-once" satisfies Circumstance}::text
    else ${"undisturbed" satisfies Circumstance}::text end)`;
  const { rows } = await sql<{ webhook_id: string }>`
    with held as (
      select r.*, d.subscription_key
      from (select set_config('synchronous_commit', 'off', true)) as commits_late,
        json_to_recordset(${JSON.stringify(results)}::json) as r (webhook_id text, merchant text, fence integer, next json,
          ends_subscription boolean, ended_at timestamptz, at timestamptz, status integer, error text,
          milliseconds integer, answer text),
        lateral (
          select d.subscription_key from deliveries d
          where d.webhook_id = r.webhook_id and d.merchant = r.merchant
            and d.fence = r.fence and d.sending and coalesce(d.leased_until > clock_timestamp(), false)
          for update
        ) as d
    ), recorded as (
      update deliveries d set
        leased_until = null, sending = false, again = false,
        state = ${next} ->> 'state',
        attempts = (${next} ->> 'attempts')::integer,
        forced = d.forced or (${next} ->> 'onlyOnce')::boolean,
        due_at = r.domain_now + (${next} ->> 'dueAfterMs')::bigint * interval '1 ms'
      from (
        select held.*, bool_or(ends_subscription) over (partition by merchant, subscription_key) as subscription_ends,
          ended_at + coalesce((select offset_ms from clock), 0) * interval '1 ms' as domain_now
        from held
      ) as r
      join subscriptions s on s.subscription_key = r.subscription_key and s.merchant = r.merchant
      where d.webhook_id = any(array(select webhook_id from held)) and d.merchant = any(array(select merchant from held))
        and d.webhook_id = r.webhook_id
      returning r.*
    ), attempt as (
      insert into delivery_attempts
        (webhook_id, merchant, number, at, domain_at, status, error, milliseconds, answer)
      select webhook_id, merchant,
        1 + coalesce((select max(number) from delivery_attempts a
          where a.webhook_id = recorded.webhook_id and a.merchant = recorded.merchant), 0),
        at, domain_now, status, error, milliseconds, answer
      from recorded
    ), ended as (
      update subscriptions s set ended_at = recorded.domain_now
      from recorded
      where recorded.ends_subscription and s.subscription_key = recorded.subscription_key
        and s.merchant = recorded.merchant and s.ended_at is null
    )
    select webhook_id from recorded`.execute(store);
  return new Set(rows.map((row) => row.webhook_id));
}

/** The same for attempts of one merchant in distributed tables. */
async function recordOnOneMachine(
  store: Store,
  attempts: readonly EndedAttempt[],
): Promise<(string | undefined)[]> {
  const recorded = await callFunction<string[]>(
    store,
    "recordAttempts",
    attempts[0]?.merchant ?? "",
    sql`${JSON.stringify(attempts.map(toResultRow))}::json`,
  );
  return attempts.map(({ webhookId }) => (recorded.includes(webhookId) ? webhookId : undefined));
}

function toResultRow({ earlierAttempts, outcome, ...attempt }: EndedAttempt) {
  const nextIn = (circumstance: Circumstance) => nextDelivery(outcome, earlierAttempts + 1, circumstance);
  return {
    webhook_id: attempt.webhookId,
    merchant: attempt.merchant,
    fence: attempt.fence,
    next: Object.fromEntries(CIRCUMSTANCES.map((circumstance) => [circumstance, nextIn(circumstance)])),
    ends_subscription: endsSubscription(outcome),
    ended_at: attempt.endedAt,
    at: attempt.at,
    status: attempt.status,
    error: attempt.error,
    milliseconds: attempt.milliseconds,
    answer: attempt.bodyStart,
  };
}

/**
 * Counts the consecutive timeouts of a subscription, up to the number from which on more make no difference; a response
 * resets the count.
 */
export async function recordTimeout(
  store: Store,
  { merchant, subscriptionKey, timedOut }: { merchant: string; subscriptionKey: string; timedOut: boolean },
): Promise<void> {
  const next = timedOut ? sql`least(coalesce(timeouts, 0) + 1, ${MAX_TIMEOUTS}::integer)` : sql`0`;
  await sql`
    update subscriptions set timeouts = ${next}
    where subscription_key = ${subscriptionKey} and merchant = ${merchant} and timeouts is distinct from ${next}`.execute(
    store,
  );
}

/** Gives a claimed delivery back without a result, so that another server can claim it at once. */
export async function releaseClaim(store: Store, { webhookId, merchant, fence }: Claim): Promise<void> {
  await store
    .updateTable("deliveries")
    .set({ leased_until: null, sending: false })
    .where("webhook_id", "=", webhookId)
    .where("merchant", "=", merchant)
    .where("fence", "=", fence)
    .execute();
}
