import { type RawBuilder, sql } from "kysely";
import { createSubscriptionKey } from "../domain/ids.ts";
import type { Store, SubscriptionsTable } from "./tables.ts";

/** How many live subscriptions a merchant may have (D26). */
export const SUBSCRIPTION_LIMIT = 100;

/** First half of the advisory lock's key, so that no other use of advisory locks meets it. */
const LOCK_CLASS = 26;

export type NewSubscription = {
  readonly merchant: string;
  readonly url: string;
  /** The secretKey as `encryptSecret` gave it (D29). */
  readonly secretCiphertext: Uint8Array;
  readonly type: SubscriptionsTable["type"];
  /** Names of events or categories; none for `ALL`. */
  readonly details: readonly string[];
  /** The domain's time (D30). */
  readonly now: Date;
};

/**
 * Stores a subscription under a new key.
 *
 * @returns "limit" when the merchant has as many live ones as it may; counted under a lock, so that calls in parallel
 *   can't pass it together
 */
export async function insertSubscription(
  store: Store,
  subscription: NewSubscription,
  limit = SUBSCRIPTION_LIMIT,
): Promise<{ subscriptionKey: string } | "limit"> {
  const { merchant, url, secretCiphertext, type, details, now } = subscription;
  return store.transaction().execute(async (transaction) => {
    await sql`select pg_advisory_xact_lock(${LOCK_CLASS}::integer, hashtext(${merchant}))`.execute(
      transaction,
    );
    if ((await countLive(transaction, merchant)) >= limit) return "limit";

    const subscriptionKey = createSubscriptionKey();
    await transaction
      .insertInto("subscriptions")
      .values({
        subscription_key: subscriptionKey,
        merchant,
        url,
        secret_ciphertext: secretCiphertext,
        type,
        details: [...details],
        created_at: now,
      })
      .execute();
    return { subscriptionKey };
  });
}

async function countLive(transaction: Store, merchant: string): Promise<number> {
  const { live } = await transaction
    .selectFrom("subscriptions")
    .select((select) => select.fn.countAll<number>().as("live"))
    .where("merchant", "=", merchant)
    .where("ended_at", "is", null)
    .executeTakeFirstOrThrow();
  return live;
}

/**
 * Ends a subscription of this merchant, and what still waits for it. An attempt under way ends by itself.
 *
 * @returns whether it was live; false also for a key that the merchant does not have
 */
export async function endSubscription(
  store: Store,
  { merchant, subscriptionKey, now }: { merchant: string; subscriptionKey: string; now: Date },
): Promise<boolean> {
  const { rows } = await sql<{ ended: number }>`
    with ended as (
      update subscriptions set ended_at = ${now}::timestamptz
      where subscription_key = ${subscriptionKey} and merchant = ${merchant} and ended_at is null
      returning subscription_key
    ), ${endDeliveries(sql`ended`)}
    select count(*)::integer as ended from ended`.execute(store);
  return rows[0]?.ended === 1;
}

/**
 * Ends a piece of what waits for a subscription that has ended, so that no statement is long, however much it is. What is
 * left when a server dies over it is ended one by one when it comes due.
 *
 * @param atMost how many deliveries
 * @returns how many were ended; fewer than `atMost` when no more wait
 */
export async function endSomeDeliveries(
  store: Store,
  { subscriptionKey, atMost }: { subscriptionKey: string; atMost: number },
): Promise<number> {
  const { rows } = await sql<{ ended: number }>`
    with piece as materialized (
      select d.webhook_id from deliveries d
      join subscriptions s on s.subscription_key = d.subscription_key and s.ended_at is not null
      where d.subscription_key = ${subscriptionKey} and d.state = 'PENDING' and d.leased_until is null and not d.forced
      limit ${atMost}::integer
      for update of d skip locked
    ), ended as (
      update deliveries d set state = 'ENDED', due_at = null
      from piece where d.webhook_id = piece.webhook_id
      returning d.webhook_id
    )
    select count(*)::integer as ended from ended`.execute(store);
  return rows[0]?.ended ?? 0;
}

/**
 * The rest of a `with` clause that ends what waits for subscriptions which have just ended. Only who ends a subscription
 * gets here, so two who meet do not wait for each other's rows. What somebody has in hand stays: its holder sees that
 * the subscription has ended.
 *
 * @param ended the subscriptions: `subscription_key`
 */
export function endDeliveries(ended: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`ended_delivery as (
      update deliveries d set state = 'ENDED', due_at = null
      from ${ended} as e
      where d.subscription_key = e.subscription_key and d.state = 'PENDING' and d.leased_until is null
    )`;
}
