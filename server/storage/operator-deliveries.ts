import { type RawBuilder, sql } from "kysely";
import type { DeliveryState, Store } from "./tables.ts";

/** Deliveries as an operator asks for them; `retrying` are pending ones of which an attempt has failed. */
export const DELIVERY_FILTERS = ["exhausted", "retrying", "pending", "delivered", "ended"] as const;
export type DeliveryFilter = (typeof DELIVERY_FILTERS)[number];

export type DeliveryWish = {
  readonly filter: DeliveryFilter;
  readonly merchant?: string | undefined;
  readonly subscriptionKey?: string | undefined;
  /** Only those before this webhook id: the last one of the page before. */
  readonly before?: string | undefined;
  readonly limit: number;
};

/** A delivery of any merchant, with its latest attempt; nothing of what it tells. */
export type OperatorDelivery = {
  readonly webhookId: string;
  readonly merchant: string;
  readonly subscriptionKey: string;
  readonly type: string;
  readonly resourceId: string;
  readonly state: DeliveryState;
  readonly attempts: number;
  /** Domain time (D30). */
  readonly dueAt: Date | null;
  readonly lastAttemptAt: Date | null;
  readonly lastStatus: number | null;
  readonly lastError: string | null;
};

type Row = {
  webhook_id: string;
  merchant: string;
  subscription_key: string;
  type: string;
  resource_id: string;
  state: DeliveryState;
  attempts: number;
  due_at: Date | null;
  at: Date | null;
  status: number | null;
  error: string | null;
};

// Written out, because the planner takes a partial index only for a condition that it can read.
const CONDITIONS: Readonly<Record<DeliveryFilter, RawBuilder<boolean>>> = {
  exhausted: sql`d.state = 'EXHAUSTED'`,
  retrying: sql`d.state = 'PENDING' and d.attempts > 0`,
  pending: sql`d.state = 'PENDING'`,
  delivered: sql`d.state = 'DELIVERED'`,
  ended: sql`d.state = 'ENDED'`,
};

/** Deliveries over all merchants, newest first. */
export async function findDeliveries(store: Store, wish: DeliveryWish): Promise<OperatorDelivery[]> {
  const { filter, merchant = null, subscriptionKey = null, before = null, limit } = wish;
  const { rows } = await sql<Row>`
    select d.webhook_id, d.merchant, d.subscription_key, e.type, e.resource_id, d.state, d.attempts, d.due_at,
      last.at, last.status, last.error
    from deliveries d
    join events e on e.event_id = d.event_id
    left join lateral (
      select at, status, error from delivery_attempts a
      where a.webhook_id = d.webhook_id order by number desc limit 1
    ) as last on true
    where ${CONDITIONS[filter]}
      and (${merchant}::text is null or d.merchant = ${merchant}::text)
      and (${subscriptionKey}::text is null or d.subscription_key = ${subscriptionKey}::text)
      and (${before}::text is null or d.webhook_id < ${before}::text)
    order by d.webhook_id desc
    limit ${limit}`.execute(store);
  return rows.map(toDelivery);
}

function toDelivery(row: Row): OperatorDelivery {
  return {
    webhookId: row.webhook_id,
    merchant: row.merchant,
    subscriptionKey: row.subscription_key,
    type: row.type,
    resourceId: row.resource_id,
    state: row.state,
    attempts: row.attempts,
    dueAt: row.due_at,
    lastAttemptAt: row.at,
    lastStatus: row.status,
    lastError: row.error,
  };
}

/** Whose delivery it is; undefined for none. */
export async function findDeliveryMerchant(store: Store, webhookId: string): Promise<string | undefined> {
  const row = await store
    .selectFrom("deliveries")
    .select("merchant")
    .where("webhook_id", "=", webhookId)
    .executeTakeFirst();
  return row?.merchant;
}
