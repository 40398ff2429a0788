import { sql } from "kysely";
import type { Store } from "./tables.ts";

/** A subscription for which something is due that nobody has in hand. */
export type DueSubscription = { readonly subscriptionKey: string; readonly merchant: string };

/** What is in hand for a subscription, at all servers together. */
export type InHand = DueSubscription & {
  readonly count: number;
  /** How many of them wait for a free place to be sent from. */
  readonly waiting: number;
};

/** How many deliveries of a subscription to claim at most. */
export type Quota = { readonly subscriptionKey: string; readonly limit: number };

/** A delivery in hand: only who knows its present fence may write what becomes of it. */
export type Claim = { readonly webhookId: string; readonly fence: number };

/**
 * Gives back what was in hand for longer than its lease: its server is dead, or paused for so long that it counts as dead.
 *
 * @param all also what is still leased: right when no other server can be at work on this store
 */
export async function freeLeases(store: Store, { all = false } = {}): Promise<void> {
  await sql`
    update deliveries set leased_until = null, sending = false
    where leased_until is not null and (${all}::boolean or leased_until < clock_timestamp())`.execute(store);
}

/**
 * The subscriptions with something due at `now` (domain time), longest due first.
 *
 * The recursion jumps in the index from one subscription to the next. So each costs the same, whether it has one delivery
 * waiting or a hundred thousand.
 */
export async function findDueSubscriptions(store: Store, now: Date): Promise<DueSubscription[]> {
  const { rows } = await sql<{ subscription_key: string; merchant: string }>`
    with recursive first as (
      (select subscription_key, merchant, due_at from deliveries
        where state = 'PENDING' and leased_until is null
        order by subscription_key, due_at limit 1)
      union all
      select next.* from first, lateral (
        select subscription_key, merchant, due_at from deliveries
        where state = 'PENDING' and leased_until is null and subscription_key > first.subscription_key
        order by subscription_key, due_at limit 1
      ) as next
    )
    select subscription_key, merchant from first where due_at <= ${now}::timestamptz order by due_at`.execute(
    store,
  );
  return rows.map((row) => ({ subscriptionKey: row.subscription_key, merchant: row.merchant }));
}

/** What is in hand now, at all servers together. */
export async function countInHand(store: Store): Promise<InHand[]> {
  const { rows } = await sql<{ subscription_key: string; merchant: string; count: number; waiting: number }>`
    select subscription_key, merchant, count(*)::integer as count,
      (count(*) filter (where not sending))::integer as waiting
    from deliveries where leased_until is not null
    group by subscription_key, merchant`.execute(store);
  return rows.map(({ subscription_key: subscriptionKey, merchant, count, waiting }) => ({
    subscriptionKey,
    merchant,
    count,
    waiting,
  }));
}

/**
 * Takes due deliveries in hand, for as long as the lease runs (ms). Several servers at once take different ones: what
 * another holds locked is passed over.
 *
 * @param now the domain's time (D30)
 */
export async function claimDeliveries(
  transaction: Store,
  { quotas, now, leaseMs }: { quotas: readonly Quota[]; now: Date; leaseMs: number },
): Promise<Claim[]> {
  const { rows } = await sql<{ webhook_id: string; fence: number }>`
    with due as materialized (
      select ready.webhook_id
      from unnest(
        ${quotas.map((quota) => quota.subscriptionKey)}::text[],
        ${quotas.map((quota) => quota.limit)}::integer[]
      ) as quota (subscription_key, up_to),
      lateral (
        select webhook_id from deliveries d
        where d.subscription_key = quota.subscription_key
          and d.state = 'PENDING' and d.leased_until is null and d.due_at <= ${now}::timestamptz
        order by d.due_at limit quota.up_to
        for update skip locked
      ) as ready
    )
    update deliveries d
    set fence = fence + 1, leased_until = clock_timestamp() + ${leaseMs}::integer * interval '1 ms'
    from due where d.webhook_id = due.webhook_id
    returning d.webhook_id, d.fence`.execute(transaction);
  return rows.map((row) => ({ webhookId: row.webhook_id, fence: row.fence }));
}
