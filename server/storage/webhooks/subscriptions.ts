import { sql } from "kysely";
import type { CallerIdentity } from "../../domain/caller-identity.ts";
import type { SubscriptionType } from "../../domain/events.ts";
import { createSubscriptionKey, firstIdSince } from "../../domain/ids.ts";
import { ADVISORY_LOCKS } from "../database/advisory-locks.ts";
import type { Store } from "../database/tables.ts";
import { statementsOf, storeOf } from "../statements/statements.ts";

/** How many live subscriptions a merchant may have (D26). */
export const SUBSCRIPTION_LIMIT = 100;

export type NewSubscription = {
  readonly merchant: string;
  readonly url: string;
  /** The secretKey as `EncryptionKeys` encrypted it (D29). */
  readonly secretCiphertext: Uint8Array;
  readonly type: SubscriptionType;
  /** Names of events or categories; none for `ALL`. */
  readonly details: readonly string[];
  /** The domain's time (D30). */
  readonly now: Date;
  readonly caller?: CallerIdentity;
};

/**
 * Stores a subscription under a new key.
 *
 * @returns "limit" when the merchant has as many live ones as it may have; they are counted under a lock, so that concurrent
 *   calls can't exceed it together
 */
export async function insertSubscription(
  store: Store,
  subscription: NewSubscription,
  limit = SUBSCRIPTION_LIMIT,
): Promise<{ subscriptionKey: string } | "limit"> {
  const { merchant, url, secretCiphertext, type, details, now, caller } = subscription;
  return store.transaction().execute(async (transaction) => {
    await sql`select pg_advisory_xact_lock(${ADVISORY_LOCKS.subscription}::integer, hashtext(${merchant}))`.execute(
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
        caller: caller === undefined ? null : JSON.stringify(caller),
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
 * Ends a subscription of this merchant, removes its secret, and ends a batch of its waiting deliveries; any server ends the
 * rest, batch by batch. An attempt under way is not interrupted.
 *
 * @returns whether it was live; false also for a key that the merchant does not have
 */
export async function endSubscription(
  store: Store,
  { merchant, subscriptionKey, now }: { merchant: string; subscriptionKey: string; now: Date },
): Promise<boolean> {
  const { numUpdatedRows } = await store
    .updateTable("subscriptions")
    .set({ ended_at: now, secret_ciphertext: null, old_secret_ciphertext: null })
    .where("subscription_key", "=", subscriptionKey)
    .where("merchant", "=", merchant)
    .where("ended_at", "is", null)
    .executeTakeFirst();
  if (numUpdatedRows === 0n) return false;
  await endSomeDeliveries(store, { merchant, subscriptionKey, atMost: END_BATCH_SIZE });
  return true;
}

/** How many waiting deliveries of an ended subscription one statement ends. On the embedded store, refunds wait for it. */
export const END_BATCH_SIZE = 500;

/**
 * Ends some of the deliveries that wait for a subscription which has ended, so that no statement is long, however many there
 * are. Deliveries in progress are left to their server, which sees that the subscription has ended.
 *
 * @param atMost how many deliveries
 * @returns how many were ended; fewer than `atMost` when no more wait
 */
export async function endSomeDeliveries(
  store: Store,
  { merchant, subscriptionKey, atMost }: { merchant: string; subscriptionKey: string; atMost: number },
): Promise<number> {
  const { rows } = await sql<{ ended: number }>`
    with batch as materialized (
      select d.webhook_id, d.merchant from deliveries d
      join subscriptions s on s.subscription_key = d.subscription_key and s.merchant = d.merchant and s.ended_at is not null
      where d.subscription_key = ${subscriptionKey} and d.merchant = ${merchant} and d.state = 'PENDING' and d.leased_until is null
      limit ${atMost}::integer
      for update of d skip locked
    ), ended as (
      update deliveries d set state = 'ENDED', due_at = null
      from batch where d.webhook_id = batch.webhook_id and d.merchant = batch.merchant
      returning d.webhook_id
    )
    select count(*)::integer as ended from ended`.execute(store);
  return rows[0]?.ended ?? 0;
}

/**
 * Forgets who made the subscriptions from before a time. Their keys contain the real time at which they were made.
 *
 * @returns how many there were
 */
export async function forgetSubscribers(store: Store, before: Date): Promise<number> {
  const past = await statementsOf(store).findOverall(
    store,
    sql<{ merchant: string }>`
      select distinct merchant from subscriptions
      where caller is not null and subscription_key < ${firstIdSince("sub_", before)}`,
  );
  let forgotten = 0;
  for (const { merchant } of past) {
    const { numUpdatedRows } = await (await storeOf(store, merchant))
      .updateTable("subscriptions")
      .set({ caller: null })
      .where("merchant", "=", merchant)
      .where("caller", "is not", null)
      .where("subscription_key", "<", firstIdSince("sub_", before))
      .executeTakeFirst();
    forgotten += Number(numUpdatedRows);
  }
  return forgotten;
}
