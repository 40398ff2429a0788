import { sql } from "kysely";
import type { ClaimLimit, InHand, ShareHolder } from "../../domain/fair-shares.ts";
import type { Store } from "../database/tables.ts";
import {
  countLeased,
  findDueSubscriptions,
  findLeaseHolders,
  findWaiting,
  readDomainTime,
  type WaitingRow,
} from "../distributed/all-merchants.ts";
import { isDistributed, onOneMachine } from "../distributed/citus.ts";

/** A subscription with deliveries that no process has in progress. */
export type Waiting = ShareHolder & {
  /** Whether one is due. */
  readonly due: boolean;
  /** Whether the subscription has ended. */
  readonly ended: boolean;
};

/** A delivery in progress. Only a process that knows its present fence may write the result. */
export type Claim = { readonly webhookId: string; readonly merchant: string; readonly fence: number };

/** A claimed delivery, with everything that its attempt needs. */
export type Attempt = Claim & {
  readonly subscriptionKey: string;
  readonly url: string;
  /** The secretKey as `encryptSecret` returned it (D29). */
  readonly secretCiphertext: Uint8Array;
  /** The exact text to send, the same on each attempt (D21). */
  readonly payload: string;
  /** Attempts before this one. */
  readonly earlierAttempts: number;
  /** Timeouts in a row of this subscription before this attempt; null when no attempt has ended yet. */
  readonly timeouts: number | null;
};

/**
 * Frees the deliveries whose lease has run out: their server is dead, or was paused for so long that it counts as dead.
 *
 * @param all also those whose lease still runs; only when no other server can be using this store
 */
export async function freeLeases(store: Store, { all = false } = {}): Promise<void> {
  if (isDistributed(store)) return freeLeasesByMerchant(store, all);
  await sql`
    update deliveries set leased_until = null, sending = false
    where leased_until is not null and (${all}::boolean or leased_until < clock_timestamp())`.execute(store);
}

/** A change of the rows of all merchants would hold up every other change of the distributed table. */
async function freeLeasesByMerchant(store: Store, all: boolean): Promise<void> {
  const merchants = await findLeaseHolders(store, { all });
  const changes = merchants.map((merchant) =>
    sql`
      update deliveries set leased_until = null, sending = false
      where merchant = ${merchant} and leased_until is not null and (${all}::boolean or leased_until < now())`.execute(
      store,
    ),
  );
  await Promise.allSettled(changes); // where one fails, the others are made all the same
  await Promise.all(changes);
}

/**
 * A page of the subscriptions with waiting deliveries, in the order of their keys.
 *
 * The recursion jumps in the index from one subscription to the next, so each costs the same whether one delivery waits or a
 * hundred thousand do.
 *
 * @param now the domain's time (D30)
 * @param after the last key of the page before
 */
export async function listWaiting(
  store: Store,
  { now, after, limit }: { now: Date; after: string; limit: number },
): Promise<Waiting[]> {
  if (isDistributed(store)) return (await findWaiting(store, { now, after, limit })).map(toWaiting);
  const { rows } = await sql<WaitingRow>`
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
      s.ended_at is not null as ended
    from page join subscriptions s on s.subscription_key = page.subscription_key and s.merchant = page.merchant
    order by page.subscription_key`.execute(store);
  return rows.map(toWaiting);
}

/** What a server needs to know before it claims. */
export type Shares = {
  /** Domain time (D30). */
  readonly now: Date;
  /** Live subscriptions with a due delivery, in random order. */
  readonly due: readonly ShareHolder[];
  /** Deliveries in progress, of all merchants; empty when nothing is due. */
  readonly inHand: readonly InHand[];
};

/**
 * The live subscriptions of some merchants with a due delivery, and the deliveries in progress, by one statement, because
 * every claim needs both. It costs the same however many subscriptions of other merchants wait.
 *
 * Subscriptions with due deliveries come in a random order. In order of age, those with the oldest deliveries would take every
 * free slot, and a receiver that has recovered would not be tried.
 */
export async function readShares(
  store: Store,
  { merchants, realNow }: { merchants: readonly string[]; realNow: Date },
): Promise<Shares> {
  if (isDistributed(store)) return readSharesEverywhere(store, { merchants, realNow });
  const { rows } = await sql<InHandRow & { now: Date; is_due: boolean }>`
    with domain as materialized (
      select ${realNow}::timestamptz + coalesce((select offset_ms from clock), 0) * interval '1 ms' as now
    ), due as materialized (
      select s.subscription_key, s.merchant, s.timeouts, 0 as count
      from subscriptions s, lateral (
        select due_at from deliveries d
        where d.subscription_key = s.subscription_key and d.merchant = s.merchant
          and d.state = 'PENDING' and d.leased_until is null and d.due_at <= (select now from domain)
        order by d.due_at limit 1
      ) as oldest
      where s.merchant = any(${merchants}::text[]) and s.ended_at is null
      order by random()
    )
    select due.*, domain.now, true as is_due from due, domain
    union all
    select hand.*, domain.now, false from (${IN_HAND}) as hand, domain where exists (select from due)`.execute(
    store,
  );
  return {
    now: rows[0]?.now ?? realNow,
    due: rows.filter((row) => row.is_due).map(toInHand),
    inHand: rows.filter((row) => !row.is_due).map(toInHand),
  };
}

/** The same for distributed tables. */
async function readSharesEverywhere(
  store: Store,
  { merchants, realNow }: { merchants: readonly string[]; realNow: Date },
): Promise<Shares> {
  const now = await readDomainTime(store, realNow);
  const due = await findDueSubscriptions(store, { merchants, now });
  const shuffled = due
    .map((row) => ({ holder: toInHand({ ...row, count: 0 }), rank: Math.random() }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ holder }) => holder);
  return { now, due: shuffled, inHand: due.length > 0 ? await countInHand(store) : [] };
}

function toWaiting({ subscription_key: subscriptionKey, ...row }: WaitingRow): Waiting {
  return { subscriptionKey, ...row };
}

type InHandRow = { subscription_key: string; merchant: string; timeouts: number | null; count: number };

const IN_HAND = sql`
  select s.subscription_key, s.merchant, s.timeouts, hand.count
  from (
    select subscription_key, merchant, count(*)::integer as count from deliveries
    where leased_until is not null group by subscription_key, merchant
  ) as hand
  join subscriptions s on s.subscription_key = hand.subscription_key and s.merchant = hand.merchant`;

/** Counts the deliveries in progress now, at all servers together. */
export async function countInHand(store: Store): Promise<InHand[]> {
  if (isDistributed(store)) return (await countLeased(store)).map(toInHand);
  const { rows } = await sql<InHandRow>`${IN_HAND}`.execute(store);
  return rows.map(toInHand);
}

function toInHand({ subscription_key: subscriptionKey, merchant, timeouts, count }: InHandRow): InHand {
  return { subscriptionKey, merchant, timeouts, count };
}

type AttemptRow = {
  webhook_id: string;
  fence: number;
  subscription_key: string;
  merchant: string;
  url: string;
  secret_ciphertext: Uint8Array;
  payload: string;
  attempts: number;
  timeouts: number | null;
};

/**
 * Claims due deliveries for the time of a lease (ms), within which the attempts must end. Servers that claim at the same time
 * get different ones, because each skips the rows that another has locked.
 *
 * Rows are looked up by their ids, because a plan that reads a whole table would outlive the day on which it was small. They are
 * looked up all at once: joined with the ids that are due, each of them would be looked for among all of these. The merchant of
 * an event and of a subscription is compared in a way that no index fits, because on tables without statistics PostgreSQL
 * would read all events of the merchant for each delivery.
 *
 * @param claimLimits of one merchant where the tables are distributed
 * @param now the domain's time (D30)
 */
export async function claimDeliveries(
  store: Store,
  { claimLimits, now, leaseMs }: { claimLimits: readonly ClaimLimit[]; now: Date; leaseMs: number },
): Promise<Attempt[]> {
  const here = (column: string) => onOneMachine(store, column, claimLimits);
  const { rows } = await sql<AttemptRow>`
    with due as materialized (
      select ready.webhook_id, s.merchant
      from unnest(
        ${claimLimits.map(({ subscriptionKey }) => subscriptionKey)}::text[],
        ${claimLimits.map(({ merchant }) => merchant)}::text[],
        ${claimLimits.map(({ limit }) => limit)}::integer[]
      ) as claim_limit (subscription_key, merchant, up_to)
      join subscriptions s on s.subscription_key = claim_limit.subscription_key and s.merchant = claim_limit.merchant
        ${here("s.merchant")},
      lateral (
        select webhook_id from deliveries d
        where d.subscription_key = s.subscription_key and d.merchant = s.merchant
          and d.state = 'PENDING' and d.leased_until is null and d.due_at <= ${now}::timestamptz
          and (s.ended_at is null or d.forced) ${here("d.merchant")}
        order by d.due_at limit claim_limit.up_to
        for update skip locked
      ) as ready
    )
    update deliveries d set
      fence = d.fence + 1, sending = true, again = false,
      leased_until = ${isDistributed(store) ? sql`now()` : sql`clock_timestamp()`} + ${leaseMs}::integer * interval '1 ms'
    from subscriptions s, events e
    where d.webhook_id = any(array(select webhook_id from due)) and d.merchant = any(array(select merchant from due))
      and s.subscription_key = d.subscription_key and coalesce(s.merchant = d.merchant, false)
      and e.event_id = d.event_id and coalesce(e.merchant = d.merchant, false)
      ${here("d.merchant")} ${here("s.merchant")} ${here("e.merchant")}
    returning d.webhook_id, d.fence, d.subscription_key, d.merchant, s.url, s.secret_ciphertext, e.payload, d.attempts,
      s.timeouts`.execute(store);
  return rows.map(toAttempt);
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
    earlierAttempts: row.attempts,
    timeouts: row.timeouts,
  };
}
