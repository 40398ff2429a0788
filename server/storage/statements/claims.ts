import { type RawBuilder, sql } from "kysely";
import type { ClaimLimit, InHand } from "../../domain/fair-shares.ts";
import type { TraceContext } from "../../domain/trace-context.ts";

/** A subscription with deliveries that no process has in progress, and how many of its others are in progress. */
export type Waiting = InHand & {
  /** Whether one is due. */
  readonly due: boolean;
  /** Whether the subscription has ended. */
  readonly ended: boolean;
};

export type InHandRow = {
  subscription_key: string;
  merchant: string;
  timeouts: number | null;
  count: number;
};
type WaitingRow = InHandRow & { due: boolean; ended: boolean };

export function toWaiting({ subscription_key: subscriptionKey, ...row }: WaitingRow): Waiting {
  return { subscriptionKey, ...row };
}

/**
 * The statement for `listWaiting`. The recursion jumps in the index from one subscription to the next, so each costs the same
 * whether one delivery waits or a hundred thousand do.
 */
export function waitingStatement({
  now,
  after,
  limit,
}: {
  now: Date;
  after: string;
  limit: number;
}): RawBuilder<WaitingRow> {
  return sql<WaitingRow>`
    with recursive first as (
      (select subscription_key, merchant, due_at from deliveries
        where state = 'PENDING' and leased_until is null and subscription_key > ${after}
        order by subscription_key, due_at limit 1)
      union all
      select next.* from first, lateral (
        select subscription_key, merchant, due_at from deliveries
        where state = 'PENDING' and leased_until is null and subscription_key > first.subscription_key
        order by subscription_key, due_at limit 1
      ) as next
    ), page as materialized (
      select * from first limit ${limit}::integer
    )
    select page.subscription_key, s.merchant, s.timeouts, page.due_at <= ${now}::timestamptz as due,
      s.ended_at is not null as ended, (${COUNT_IN_HAND}) as count
    from page join subscriptions s on s.subscription_key = page.subscription_key and s.merchant = page.merchant
    order by page.subscription_key`;
}

/** What a server needs to know before it claims. */
export type Shares = {
  /** Domain time (D30). */
  readonly now: Date;
  /**
   * Live subscriptions with a due delivery, and how many of their deliveries are in progress. In random order, so that none is
   * always the last one to get a share; the poll, which reads them page by page, shuffles each page, and not the pages.
   */
  readonly due: readonly InHand[];
};

/** Whose shares to read. */
export type SharesRequest = {
  readonly merchants: readonly string[];
  readonly realNow: Date;
  /** The webhookIds of deliveries that no longer count as in progress: their attempts have ended, and are being recorded. */
  readonly ended: readonly string[];
};

export function toInHand({
  subscription_key: subscriptionKey,
  merchant,
  timeouts,
  count,
}: InHandRow): InHand {
  return { subscriptionKey, merchant, timeouts, count };
}

/**
 * The statement for `readShares`, which costs the same however many subscriptions of other merchants wait.
 *
 * @param parts a time and two lists of texts
 */
export function sharesStatement({
  realNow,
  merchants,
  ended,
}: Readonly<Record<"realNow" | "merchants" | "ended", RawBuilder<unknown>>>): RawBuilder<
  InHandRow & { now: Date }
> {
  return sql<InHandRow & { now: Date }>`
    with domain as materialized (
      select ${realNow}::timestamptz + coalesce((select offset_ms from clock), 0) * interval '1 ms' as now
    )
    select s.subscription_key, s.merchant, s.timeouts, domain.now,
      (${COUNT_IN_HAND} and h.webhook_id <> all(${ended})) as count
    from domain, subscriptions s, lateral (
      select due_at from deliveries d
      where d.subscription_key = s.subscription_key and d.merchant = s.merchant
        and d.state = 'PENDING' and d.leased_until is null and d.due_at <= (select now from domain)
      order by d.due_at limit 1
    ) as oldest
    where s.merchant = any(${merchants}) and s.ended_at is null
    order by random()`;
}

/** Of a subscription `s`, by a lookup in the index of deliveries in progress. */
export const COUNT_IN_HAND: RawBuilder<number> = sql`select count(*)::integer from deliveries h
  where h.subscription_key = s.subscription_key and h.merchant = s.merchant and h.leased_until is not null`;

/** A delivery in progress. Only a process that knows its present fence may write the result. */
export type Claim = { readonly webhookId: string; readonly merchant: string; readonly fence: number };

/** A claimed delivery, with everything that its attempt needs. */
export type Attempt = Claim & {
  readonly subscriptionKey: string;
  readonly url: string;
  /** The secretKey as `EncryptionKeys` encrypted it (D29), and while it replaces another one, that one after it. */
  readonly secretCiphertexts: readonly Uint8Array[];
  /** The exact text to send, the same on each attempt (D21). */
  readonly payload: string;
  /** Of the call that issued the refund; null where there is none (D33). */
  readonly trace: TraceContext | null;
  /** Attempts before this one. */
  readonly earlierAttempts: number;
  /** Timeouts in a row of this subscription before this attempt; null when no attempt has ended yet. */
  readonly timeouts: number | null;
};

/** What to claim at a domain time (D30), and for how long. */
export type ClaimRequest = {
  readonly claimLimits: readonly ClaimLimit[];
  readonly now: Date;
  readonly leaseMs: number;
};

export type AttemptRow = {
  webhook_id: string;
  fence: number;
  subscription_key: string;
  merchant: string;
  url: string;
  secret_ciphertext: Uint8Array;
  old_secret_ciphertext: Uint8Array | null;
  payload: string;
  trace: TraceContext | null;
  attempts: number;
  timeouts: number | null;
};

/**
 * The statement that claims deliveries. Servers that claim at the same time get different ones, because each skips the rows that
 * another has locked.
 *
 * Rows are looked up by their ids, because a prepared plan that reads a whole small table would stay in use when the table
 * has grown. One lookup gets all ids: a join with the ids that are due would search all of these for each row. The merchant of
 * an event and of a subscription is compared by an expression that no index has, because on tables without statistics
 * PostgreSQL would read all events of the merchant for each delivery.
 *
 * @param parts.limits rows of a subscription_key, a merchant and how many to claim
 */
export function claimStatement({
  limits,
  now,
  leaseMs,
}: Readonly<Record<"limits" | "now" | "leaseMs", RawBuilder<unknown>>>): RawBuilder<AttemptRow> {
  return sql<AttemptRow>`
    with due as materialized (
      select ready.webhook_id, ready.event_id, s.merchant
      from ${limits}
      join subscriptions s on s.subscription_key = claim_limit.subscription_key and s.merchant = claim_limit.merchant,
      lateral (
        select webhook_id, event_id from deliveries d
        where d.subscription_key = s.subscription_key and d.merchant = s.merchant
          and d.state = 'PENDING' and d.leased_until is null and d.due_at <= ${now}::timestamptz
          and s.ended_at is null
        order by d.due_at limit claim_limit.up_to
        for update skip locked
      ) as ready
    )
    update deliveries d set
      fence = d.fence + 1, sending = true, redelivery_requested = false,
      leased_until = clock_timestamp() + ${leaseMs}::integer * interval '1 ms'
    from subscriptions s, events e
    where d.webhook_id = any(array(select webhook_id from due)) and d.merchant = any(array(select merchant from due))
      and s.subscription_key = d.subscription_key and coalesce(s.merchant = d.merchant, false)
      and e.event_id = any(array(select event_id from due))
      and e.event_id = d.event_id and coalesce(e.merchant = d.merchant, false)
    returning d.webhook_id, d.fence, d.subscription_key, d.merchant, s.url, e.payload, e.trace, d.attempts, s.timeouts,
      s.secret_ciphertext, case when s.old_secret_until > ${now}::timestamptz then s.old_secret_ciphertext end as old_secret_ciphertext`;
}

export function toAttempt(row: AttemptRow): Attempt {
  return {
    webhookId: row.webhook_id,
    fence: row.fence,
    subscriptionKey: row.subscription_key,
    merchant: row.merchant,
    url: row.url,
    secretCiphertexts: [row.secret_ciphertext, row.old_secret_ciphertext].filter((secret) => secret !== null),
    payload: row.payload,
    trace: row.trace,
    earlierAttempts: row.attempts,
    timeouts: row.timeouts,
  };
}
