import { sql } from "kysely";
import type { Store } from "../database/tables.ts";
import {
  type Attempt,
  type ClaimRequest,
  COUNT_IN_HAND,
  claimStatement,
  type Shares,
  type SharesRequest,
  sharesStatement,
  toAttempt,
  toInHand,
  toWaiting,
  type Waiting,
  type WaitingRow,
} from "../statements/claims.ts";

/** Leaves out what another transaction has locked: the dispatch of all deliveries would wait for it. */
export async function freeLeases(store: Store, { all = false } = {}): Promise<void> {
  await sql`
    update deliveries d set leased_until = null, sending = false
    from (
      select webhook_id, merchant from deliveries
      where leased_until is not null and (${all}::boolean or leased_until < clock_timestamp())
      for update skip locked
    ) as ended
    where d.webhook_id = ended.webhook_id and d.merchant = ended.merchant`.execute(store);
}

/**
 * The recursion jumps in the index from one subscription to the next, so each costs the same whether one delivery waits or a
 * hundred thousand do.
 */
export async function listWaiting(
  store: Store,
  { now, after, limit }: { now: Date; after: string; limit: number },
): Promise<Waiting[]> {
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
      s.ended_at is not null as ended, (${COUNT_IN_HAND}) as count
    from page join subscriptions s on s.subscription_key = page.subscription_key and s.merchant = page.merchant
    order by page.subscription_key`.execute(store);
  return rows.map(toWaiting);
}

export async function readShares(
  store: Store,
  { merchants, realNow, ended }: SharesRequest,
): Promise<Shares> {
  const { rows } = await sharesStatement({
    realNow: sql`${realNow}`,
    merchants: sql`${merchants}::text[]`,
    ended: sql`${ended}::text[]`,
  }).execute(store);
  return { now: rows[0]?.now ?? realNow, due: rows.map(toInHand) };
}

export async function claimDeliveries(store: Store, request: ClaimRequest): Promise<Attempt[]> {
  const { claimLimits, now, leaseMs } = request;
  const limits = sql`unnest(
        ${claimLimits.map(({ subscriptionKey }) => subscriptionKey)}::text[],
        ${claimLimits.map(({ merchant }) => merchant)}::text[],
        ${claimLimits.map(({ limit }) => limit)}::integer[]
      ) as claim_limit (subscription_key, merchant, up_to)`;
  const { rows } = await claimStatement({ limits, now: sql`${now}`, leaseMs: sql`${leaseMs}` }).execute(
    store,
  );
  return rows.map(toAttempt);
}
