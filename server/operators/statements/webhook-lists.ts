import { sql } from "kysely";
import type { DeliveryState } from "../../domain/delivery-outcome.ts";
import type { SubscriptionType } from "../../domain/event-payloads.ts";
import type { Db } from "../../storage/database/db-types.ts";

/**
 * What an operator can list of the deliveries; `retrying` are pending ones with a failed attempt. Literal SQL, because the planner uses
 * a partial index only for a condition without parameters.
 */
export const DELIVERY_FILTERS = {
  exhausted: sql`d.state = 'EXHAUSTED'`,
  retrying: sql`d.state = 'PENDING' and d.attempts > 0`,
  pending: sql`d.state = 'PENDING'`,
  delivered: sql`d.state = 'DELIVERED'`,
  ended: sql`d.state = 'ENDED'`,
};

export type DeliveryWish = {
  readonly filter: keyof typeof DELIVERY_FILTERS;
  readonly merchant?: string | undefined;
  readonly subscriptionKey?: string | undefined;
  /** Only those before this webhook id: the last one of the page before. */
  readonly before?: string | undefined;
  readonly limit: number;
};

/** A delivery of any merchant, with its latest attempt, without its payload. */
type OperatorDelivery = {
  readonly webhookId: string;
  readonly merchant: string;
  readonly subscriptionKey: string;
  readonly type: string;
  readonly resourceId: string;
  readonly state: DeliveryState;
  readonly attempts: number;
  readonly lastAttemptAt: Date | null;
  readonly lastError: string | null;
};

/** Deliveries over all merchants, newest first. */
export async function findDeliveries(db: Db, wish: DeliveryWish): Promise<OperatorDelivery[]> {
  const { filter, merchant = null, subscriptionKey = null, before = null, limit } = wish;
  const { rows } = await sql<OperatorDelivery>`
    select d.webhook_id as "webhookId", d.merchant, d.subscription_key as "subscriptionKey", e.type,
      e.resource_id as "resourceId", d.state, d.attempts, last.at as "lastAttemptAt", last.error as "lastError"
    from deliveries d
    join events e on e.event_id = d.event_id and e.merchant = d.merchant
    left join lateral (
      select at, error from delivery_attempts a
      where a.webhook_id = d.webhook_id and a.merchant = d.merchant order by number desc limit 1
    ) as last on true
    where ${DELIVERY_FILTERS[filter]}
      and (${merchant}::text is null or d.merchant = ${merchant}::text)
      and (${subscriptionKey}::text is null or d.subscription_key = ${subscriptionKey}::text)
      and (${before}::text is null or d.webhook_id < ${before}::text)
    order by d.webhook_id desc limit ${limit}`.execute(db);
  return rows;
}

/** A subscription of any merchant, without its secret. */
type OperatorSubscription = {
  readonly subscriptionKey: string;
  readonly merchant: string;
  readonly url: string;
  readonly type: SubscriptionType;
  readonly details: readonly string[];
  readonly createdAt: Date;
  /** The number of its pending deliveries. */
  readonly waiting: number;
};

/** Live subscriptions of all merchants, or of one, oldest first. */
export async function findSubscriptions(
  db: Db,
  { merchant, limit }: { merchant?: string | undefined; limit: number },
): Promise<OperatorSubscription[]> {
  const { rows } = await sql<OperatorSubscription>`
    select s.subscription_key as "subscriptionKey", s.merchant, s.url, s.type, s.details, s.created_at as "createdAt",
      (select count(*)::integer from deliveries d
        where d.subscription_key = s.subscription_key and d.merchant = s.merchant and d.state = 'PENDING') as waiting
    from subscriptions s
    where s.ended_at is null and s.merchant = coalesce(${merchant ?? null}::text, s.merchant)
    order by s.subscription_key limit ${limit}`.execute(db);
  return rows;
}

const IDS = { deliveries: "webhook_id", subscriptions: "subscription_key" } as const;

/** The merchant of a delivery or a subscription; undefined when there is none with this id. */
export async function findMerchant(db: Db, table: keyof typeof IDS, id: string): Promise<string | undefined> {
  const { rows } = await sql<{ merchant: string }>`
    select merchant from ${sql.table(table)} where ${sql.ref(IDS[table])} = ${id}`.execute(db);
  return rows[0]?.merchant;
}
