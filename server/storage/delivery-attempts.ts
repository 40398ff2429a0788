import { sql } from "kysely";
import type { Claim } from "./delivery-claims.ts";
import type { DeliveryState, Store } from "./tables.ts";

/** Everything that an attempt needs. */
export type Attempt = Claim & {
  readonly subscriptionKey: string;
  readonly merchant: string;
  readonly url: string;
  /** The secretKey as `encryptSecret` gave it (D29). */
  readonly secretCiphertext: Uint8Array;
  /** The exact text to send, the same on each attempt (D21). */
  readonly payload: string;
  /** Attempts of this round that failed before. */
  readonly earlier: number;
};

/** What came of an attempt. */
export type AttemptResult = {
  /** Real time at which it began. */
  readonly at: Date;
  readonly status: number | null;
  readonly error: string | null;
  readonly milliseconds: number;
  readonly answer: string | null;
  readonly verdict: Verdict;
};

/** An attempt with what came of it; the next one is due so much later than its end, in domain time (D23, D30). */
export type EndedAttempt = Claim &
  AttemptResult & {
    /** Real time. */
    readonly endedAt: Date;
  };

/** `retry`: after so many milliseconds of domain time, counted from now. `ended`: the receiver wants no more (D23). */
export type Verdict =
  | { readonly kind: "delivered" }
  | { readonly kind: "retry"; readonly afterMs: number }
  | { readonly kind: "exhausted" }
  | { readonly kind: "ended" };

type AttemptRow = {
  webhook_id: string;
  fence: number;
  subscription_key: string;
  merchant: string;
  url: string;
  secret_ciphertext: Uint8Array;
  payload: string;
  attempts: number;
  state: DeliveryState;
};

/**
 * Begins the attempts of what was claimed, with a new lease (ms) each. A claim that was lost, begun already, or whose
 * subscription has ended meanwhile begins none, and is not among the result.
 */
export async function beginAttempts(
  store: Store,
  { claims, leaseMs }: { claims: readonly Claim[]; leaseMs: number },
): Promise<Attempt[]> {
  const ended = sql`(s.ended_at is not null and not d.forced)`;
  const { rows } = await sql<AttemptRow>`
    update deliveries d set
      fence = d.fence + 1,
      again = false,
      state = case when ${ended} then 'ENDED' else d.state end,
      due_at = case when not ${ended} then d.due_at end,
      sending = not ${ended},
      leased_until = case when not ${ended} then clock_timestamp() + ${leaseMs}::integer * interval '1 ms' end
    from unnest(
        ${claims.map((claim) => claim.webhookId)}::text[],
        ${claims.map((claim) => claim.fence)}::integer[]
      ) as claim (webhook_id, fence),
      subscriptions s, events e
    where d.webhook_id = claim.webhook_id and d.fence = claim.fence
      and d.leased_until > clock_timestamp()
      and s.subscription_key = d.subscription_key and e.event_id = d.event_id
    returning d.webhook_id, d.fence, d.subscription_key, d.merchant, s.url, s.secret_ciphertext, e.payload, d.attempts, d.state`.execute(
    store,
  );
  return rows.filter((row) => row.state === "PENDING").map(toAttempt);
}

function toAttempt(row: AttemptRow): Attempt {
  return {
    webhookId: row.webhook_id,
    fence: row.fence,
    subscriptionKey: row.subscription_key,
    merchant: row.merchant,
    url: row.url,
    secretCiphertext: row.secret_ciphertext,
    payload: row.payload,
    earlier: row.attempts,
  };
}

/**
 * Writes what came of attempts and what follows of each, by one statement, where the fence and the lease still hold. A
 * worker that was paused past its lease writes nothing: another one has the delivery, or will have it.
 *
 * The deliveries are locked in the order of their ids, so two such statements never wait for each other; and both parts
 * look them up by id, because a plan that reads the whole table would outlive the day on which the table was small.
 *
 * A receiver that wants no more ends its subscription here; what waits for that is ended by `endSomeDeliveries`, which
 * may be long work and must not keep the results of others waiting.
 *
 * @returns the webhookIds that were written
 */
export async function recordAttempts(store: Store, attempts: readonly EndedAttempt[]): Promise<Set<string>> {
  const outcomes = attempts.map(toOutcome).sort((a, b) => (a.webhook_id < b.webhook_id ? -1 : 1));
  const onceMore = sql`(d.again and o.kind <> 'ended')`;
  const next = sql`case when ${onceMore} then 'PENDING'
    when o.kind = 'delivered' then 'DELIVERED'
    when o.kind = 'ended' or (s.ended_at is not null or o.subscription_ends) and not d.forced then 'ENDED'
    when o.kind = 'exhausted' then 'EXHAUSTED'
    else 'PENDING' end`;
  const { rows } = await sql<{ webhook_id: string }>`
    with held as (
      select o.*, d.subscription_key
      from json_to_recordset(${JSON.stringify(outcomes)}::json) as o (webhook_id text, fence integer, kind text,
          after_ms bigint, ended_at timestamptz, at timestamptz, status integer, error text, milliseconds integer,
          answer text),
        lateral (
          select d.subscription_key from deliveries d
          where d.webhook_id = o.webhook_id and d.fence = o.fence and d.sending and d.leased_until > clock_timestamp()
          for update
        ) as d
    ), recorded as (
      update deliveries d set
        leased_until = null, sending = false, again = false,
        state = ${next},
        attempts = case when ${onceMore} then 0 else d.attempts + 1 end,
        due_at = case when ${onceMore} then o.domain_now
          when ${next} = 'PENDING' then o.domain_now + o.after_ms * interval '1 ms' end
      from (
        select held.*, bool_or(kind = 'ended') over (partition by subscription_key) as subscription_ends,
          ended_at + coalesce((select offset_ms from clock), 0) * interval '1 ms' as domain_now
        from held
      ) as o
      join subscriptions s on s.subscription_key = o.subscription_key
      where d.webhook_id = any(array(select webhook_id from held)) and d.webhook_id = o.webhook_id
      returning o.*
    ), attempt as (
      insert into delivery_attempts (webhook_id, number, at, status, error, milliseconds, answer)
      select webhook_id,
        1 + coalesce((select max(number) from delivery_attempts a where a.webhook_id = recorded.webhook_id), 0),
        at, status, error, milliseconds, answer
      from recorded
    ), ended as (
      update subscriptions s set ended_at = recorded.domain_now
      from recorded
      where recorded.kind = 'ended' and s.subscription_key = recorded.subscription_key and s.ended_at is null
    )
    select webhook_id from recorded`.execute(store);
  return new Set(rows.map((row) => row.webhook_id));
}

function toOutcome({ webhookId, fence, endedAt, verdict, ...result }: EndedAttempt) {
  return {
    webhook_id: webhookId,
    fence,
    kind: verdict.kind,
    after_ms: verdict.kind === "retry" ? verdict.afterMs : 0,
    ended_at: endedAt,
    at: result.at,
    status: result.status,
    error: result.error,
    milliseconds: result.milliseconds,
    answer: result.answer,
  };
}

/** Gives back what was in hand without a result, for another server to take at once. */
export async function releaseClaim(store: Store, { webhookId, fence }: Claim): Promise<void> {
  await store
    .updateTable("deliveries")
    .set({ leased_until: null, sending: false })
    .where("webhook_id", "=", webhookId)
    .where("fence", "=", fence)
    .execute();
}
