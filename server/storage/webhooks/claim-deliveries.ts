import { type RawBuilder, sql } from "kysely";
import type { ClaimLimit, InProgress } from "../../domain/delivery-fairness.ts";
import type { TraceContext } from "../../domain/trace-context.ts";
import type { Db, Values } from "../database/db-types.ts";

/**
 * Claims due deliveries for the time of a lease (ms), within which the attempts must end. Servers that claim at the same time
 * get different ones, because each skips the rows that another has locked.
 */
export async function claimDeliveries(db: Db, { claimLimits, now, leaseMs }: ClaimRequest) {
  const limits = sql`unnest(${claimLimits.map(({ subscriptionKey }) => subscriptionKey)}::text[],
        ${claimLimits.map(({ merchant }) => merchant)}::text[], ${claimLimits.map(({ limit }) => limit)}::integer[])`;
  const { rows } = await claimStatement({ limits, now, leaseMs }).execute(db);
  return rows.map(toAttempt);
}

/** How many deliveries of a subscription `s` are in progress, by a lookup in the index of these. */
const COUNT_IN_PROGRESS: RawBuilder<number> = sql`select count(*)::integer from deliveries h
  where h.subscription_key = s.subscription_key and h.merchant = s.merchant and h.leased_until is not null`;

/**
 * Frees the deliveries whose lease has run out: their server is dead, or paused. It leaves out what another transaction has locked,
 * because the dispatch of all deliveries would wait for it.
 * @param options.all also those whose lease still runs; only when no other server can be using this store
 */
export async function freeLeases(db: Db, { all = false } = {}): Promise<void> {
  await sql`
    update deliveries d set leased_until = null, sending = false
    from (
      select webhook_id, merchant from deliveries
      where leased_until is not null and (${all}::boolean or leased_until < clock_timestamp()) for update skip locked
    ) as ended
    where d.webhook_id = ended.webhook_id and d.merchant = ended.merchant`.execute(db);
}

/** A subscription with deliveries that no process has in progress, and how many of its others are in progress. */
export type Waiting = InProgress & {
  /** Whether one is due. */ readonly due: boolean;
  readonly ended: boolean;
};

/**
 * A page of the subscriptions with waiting deliveries, in the order of their keys. The recursion jumps in the index from one
 * subscription to the next, so each costs the same whether one delivery waits or a hundred thousand do.
 * @param page.now the domain's time (D30)
 * @param page.after the last key of the page before
 */
export async function listWaiting(
  db: Db,
  { now, after, limit }: { now: Date; after: string; limit: number },
): Promise<readonly Waiting[]> {
  const { rows } = await sql<Waiting>`
    with recursive first as (
      (${firstAfter(sql`${after}`)})
      union all
      select next.* from first, lateral (${firstAfter(sql`first.subscription_key`)}) as next
    ), page as materialized (
      select * from first limit ${limit}::integer
    )
    select page.subscription_key as "subscriptionKey", s.merchant, s.timeouts, page.due_at <= ${now}::timestamptz as due,
      s.ended_at is not null as ended, (${COUNT_IN_PROGRESS}) as count
    from page join subscriptions s on s.subscription_key = page.subscription_key and s.merchant = page.merchant
    order by page.subscription_key`.execute(db);
  return rows;
}

/** The first delivery that waits for a subscription behind this key. */
const firstAfter = (key: RawBuilder<unknown>) => sql`
  select subscription_key, merchant, due_at from deliveries
  where state = 'PENDING' and leased_until is null and subscription_key > ${key} order by subscription_key, due_at limit 1`;

/** What a server needs to know before it claims. */
export type Shares = {
  /** Domain time (D30). */
  readonly now: Date;
  /**
   * Live subscriptions with a due delivery, and how many of their deliveries are in progress. In random order: in order of age,
   * those with the oldest deliveries would take every free slot, and a receiver that has recovered would not be tried.
   */
  readonly due: readonly InProgress[];
};

/** Whose shares to read. */
export type SharesRequest = {
  readonly merchants: readonly string[];
  readonly realNow: Date;
  /** The webhookIds of deliveries that no longer count as in progress: their attempts have ended, and are being recorded. */
  readonly ended: readonly string[];
};

/** The shares of the live subscriptions of some merchants. It costs the same however many of other merchants wait. */
export async function readShares(db: Db, request: SharesRequest): Promise<Shares> {
  const { rows } = await sharesStatement(request).execute(db);
  return { now: rows[0]?.now ?? request.realNow, due: rows.map(({ now: _, ...inProgress }) => inProgress) };
}

export type SharesRow = InProgress & { readonly now: Date };

export function sharesStatement(request: Values<SharesRequest>): RawBuilder<SharesRow> {
  const { realNow, merchants, ended } = request;
  return sql`
    with domain as materialized (
      select ${realNow}::timestamptz + coalesce((select offset_ms from clock), 0) * interval '1 ms' as now
    )
    select s.subscription_key as "subscriptionKey", s.merchant, s.timeouts, domain.now,
      (${COUNT_IN_PROGRESS} and h.webhook_id <> all(${ended}::text[])) as count
    from domain, subscriptions s, lateral (
      select due_at from deliveries d
      where d.subscription_key = s.subscription_key and d.merchant = s.merchant
        and d.state = 'PENDING' and d.leased_until is null and d.due_at <= (select now from domain)
      order by d.due_at limit 1
    ) as oldest
    where s.merchant = any(${merchants}::text[]) and s.ended_at is null
    order by random()`;
}

/** A delivery in progress. Only a process that knows its present fence may write the result. */
export type Claim = { readonly webhookId: string; readonly merchant: string; readonly fence: number };

/** A claimed delivery, with everything that its attempt needs. */
export type Attempt = Claim & {
  readonly subscriptionKey: string;
  readonly url: string;
  /** The encrypted secretKey (D29), followed by the one that it replaces while both sign. */
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
export type ClaimRequest = { readonly claimLimits: readonly ClaimLimit[] } & ClaimTimes;
type ClaimTimes = { readonly now: Date; readonly leaseMs: number };

export type ClaimedRow = Omit<Attempt, "secretCiphertexts"> & {
  readonly secret: Uint8Array;
  readonly old_secret: Uint8Array | null;
};

/**
 * Rows are looked up by their ids, because a prepared plan that reads a whole small table would stay in use when the table
 * has grown: the deliveries all at once, and each event alone, as `offset 0` makes sure. `coalesce` hides the ids from the planner,
 * which would otherwise sort all due ids again for each row.
 * @param parts.limits rows of a subscription_key, a merchant and how many to claim
 */
export function claimStatement(
  parts: Values<ClaimTimes> & { limits: RawBuilder<unknown> },
): RawBuilder<ClaimedRow> {
  const { limits, now, leaseMs } = parts;
  return sql`
    with due as materialized (
      select ready.webhook_id, s.merchant, s.subscription_key, s.url, s.timeouts, s.secret_ciphertext as secret,
        case when s.old_secret_until > ${now}::timestamptz then s.old_secret_ciphertext end as old_secret, event.payload, event.trace
      from ${limits} as claim_limit (subscription_key, merchant, up_to)
      join subscriptions s on s.subscription_key = claim_limit.subscription_key and s.merchant = claim_limit.merchant,
      lateral (
        select webhook_id, event_id from deliveries d
        where d.subscription_key = s.subscription_key and d.merchant = s.merchant
          and d.state = 'PENDING' and d.leased_until is null and d.due_at <= ${now}::timestamptz
          and s.ended_at is null
        order by d.due_at limit claim_limit.up_to
        for update skip locked
      ) as ready,
      lateral (
        select payload, trace from events e where e.event_id = ready.event_id and e.merchant = s.merchant offset 0
      ) as event
    )
    update deliveries d set
      fence = d.fence + 1, sending = true, redelivery_requested = false,
      leased_until = clock_timestamp() + ${leaseMs}::integer * interval '1 ms'
    from due
    where d.webhook_id = any(array(select webhook_id from due)) and d.merchant = any(array(select merchant from due))
      and coalesce(d.webhook_id, '') = due.webhook_id and coalesce(due.merchant = d.merchant, false)
    returning d.webhook_id as "webhookId", d.fence, d.subscription_key as "subscriptionKey", d.merchant, due.url, due.payload,
      due.trace, d.attempts as "earlierAttempts", due.timeouts, due.secret, due.old_secret`;
}

export function toAttempt({ secret, old_secret, ...attempt }: ClaimedRow): Attempt {
  return { ...attempt, secretCiphertexts: old_secret === null ? [secret] : [secret, old_secret] };
}

/** Gives a claimed delivery back without a result, so that another server can claim it at once. */
export async function releaseClaim(db: Db, { webhookId, merchant, fence }: Claim): Promise<void> {
  await sql`
    update deliveries set leased_until = null, sending = false
    where webhook_id = ${webhookId} and merchant = ${merchant} and fence = ${fence}`.execute(db);
}
