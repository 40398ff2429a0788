import { type RawBuilder, sql } from "kysely";
import type { Claim } from "./delivery-claims.ts";
import { endDeliveries } from "./subscriptions.ts";
import type { DeliveryState, Store } from "./tables.ts";

/** Everything that an attempt needs. */
export type Attempt = Claim & {
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

/** `retry`: after so many milliseconds of domain time, counted from now. `ended`: the receiver wants no more (D23). */
export type Verdict =
  | { readonly kind: "delivered" }
  | { readonly kind: "retry"; readonly afterMs: number }
  | { readonly kind: "exhausted" }
  | { readonly kind: "ended" };

type AttemptRow = {
  webhook_id: string;
  fence: number;
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
      and d.leased_until > clock_timestamp() and not d.sending
      and s.subscription_key = d.subscription_key and e.event_id = d.event_id
    returning d.webhook_id, d.fence, d.merchant, s.url, s.secret_ciphertext, e.payload, d.attempts, d.state`.execute(
    store,
  );
  return rows.filter((row) => row.state === "PENDING").map(toAttempt);
}

function toAttempt(row: AttemptRow): Attempt {
  return {
    webhookId: row.webhook_id,
    fence: row.fence,
    merchant: row.merchant,
    url: row.url,
    secretCiphertext: row.secret_ciphertext,
    payload: row.payload,
    earlier: row.attempts,
  };
}

/**
 * Writes what came of an attempt and what follows, by one statement, if the fence and the lease still hold. A worker that
 * was paused past its lease writes nothing: another one has the delivery, or will have it.
 *
 * @param realNow when the attempt ended; the next one is due so much later in domain time (D23, D30)
 * @returns whether it was written
 */
export async function recordAttempt(
  store: Store,
  { webhookId, fence }: Claim,
  { at, status, error, milliseconds, answer, verdict }: AttemptResult,
  realNow: Date,
): Promise<boolean> {
  const afterMs = verdict.kind === "retry" ? verdict.afterMs : 0;
  const onceMore = sql`(d.again and ${verdict.kind !== "ended"}::boolean)`;
  const next = sql`case when ${onceMore} then 'PENDING'
    when ${verdict.kind === "delivered"}::boolean then 'DELIVERED'
    when ${verdict.kind === "ended"}::boolean or s.ended_at is not null and not d.forced then 'ENDED'
    when ${verdict.kind === "exhausted"}::boolean then 'EXHAUSTED'
    else 'PENDING' end`;
  const ends = verdict.kind === "ended" ? endSubscriptions() : sql``;
  const { rows } = await sql<{ recorded: number }>`
    with domain as (
      select ${realNow}::timestamptz + coalesce((select offset_ms from clock), 0) * interval '1 ms' as now
    ), recorded as (
      update deliveries d set
        leased_until = null, sending = false, again = false,
        state = ${next},
        attempts = case when ${onceMore} then 0 else d.attempts + 1 end,
        due_at = case when ${onceMore} then domain.now
          when ${next} = 'PENDING' then domain.now + ${afterMs}::bigint * interval '1 ms' end
      from subscriptions s, domain
      where d.webhook_id = ${webhookId} and d.fence = ${fence} and d.sending and d.leased_until > clock_timestamp()
        and s.subscription_key = d.subscription_key
      returning d.webhook_id, d.subscription_key
    ), attempt as (
      insert into delivery_attempts (webhook_id, number, at, status, error, milliseconds, answer)
      select webhook_id,
        1 + coalesce((select max(number) from delivery_attempts a where a.webhook_id = recorded.webhook_id), 0),
        ${at}::timestamptz, ${status}::integer, ${error}::text, ${milliseconds}::integer, ${answer}::text
      from recorded
    )${ends}
    select count(*)::integer as recorded from recorded`.execute(store);
  return rows[0]?.recorded === 1;
}

/** The rest of a `with` clause that ends the subscription of what was `recorded`, and all that waits for it. */
function endSubscriptions(): RawBuilder<unknown> {
  return sql`, ended as (
      update subscriptions s set ended_at = domain.now from recorded, domain
      where s.subscription_key = recorded.subscription_key and s.ended_at is null
      returning s.subscription_key
    ), ${endDeliveries(sql`ended`)}`;
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
