import { sql } from "kysely";
import type { Store, SubscriptionsTable } from "./tables.ts";

/** A subscription of any merchant, without its secret. */
export type OperatorSubscription = {
  readonly subscriptionKey: string;
  readonly merchant: string;
  readonly url: string;
  readonly type: SubscriptionsTable["type"];
  readonly details: readonly string[];
  readonly createdAt: Date;
  readonly endedAt: Date | null;
  /** Deliveries that are not finished. */
  readonly waiting: number;
};

type Row = {
  subscription_key: string;
  merchant: string;
  url: string;
  type: SubscriptionsTable["type"];
  details: string[];
  created_at: Date;
  ended_at: Date | null;
  waiting: number;
};

export type SubscriptionWish = {
  readonly merchant?: string | undefined;
  /** Also those that have ended. */
  readonly ended: boolean;
  /** Only those after this key: the last one of the page before. */
  readonly after?: string | undefined;
  readonly limit: number;
};

/** Subscriptions over all merchants, oldest first. */
export async function findSubscriptions(
  store: Store,
  { merchant, ended, after, limit }: SubscriptionWish,
): Promise<OperatorSubscription[]> {
  const { rows } = await sql<Row>`
    select s.subscription_key, s.merchant, s.url, s.type, s.details, s.created_at, s.ended_at,
      (select count(*)::integer from deliveries d
        where d.subscription_key = s.subscription_key and d.state = 'PENDING') as waiting
    from subscriptions s
    where (${ended}::boolean or s.ended_at is null)
      and (${merchant ?? null}::text is null or s.merchant = ${merchant ?? null}::text)
      and (${after ?? null}::text is null or s.subscription_key > ${after ?? null}::text)
    order by s.subscription_key
    limit ${limit}`.execute(store);
  return rows.map((row) => ({
    subscriptionKey: row.subscription_key,
    merchant: row.merchant,
    url: row.url,
    type: row.type,
    details: row.details,
    createdAt: row.created_at,
    endedAt: row.ended_at,
    waiting: row.waiting,
  }));
}

/** Whose subscription it is; undefined for none. */
export async function findSubscriptionMerchant(
  store: Store,
  subscriptionKey: string,
): Promise<string | undefined> {
  const row = await store
    .selectFrom("subscriptions")
    .select("merchant")
    .where("subscription_key", "=", subscriptionKey)
    .executeTakeFirst();
  return row?.merchant;
}
