import { isDeepStrictEqual } from "node:util";
import { sql } from "kysely";
import type { CallerIdentity } from "../../domain/caller-identity.ts";
import type { SubscriptionType } from "../../domain/event-payloads.ts";
import { createSubscriptionKey, firstIdSince } from "../../domain/ids.ts";
import type { Db } from "../database/db-types.ts";
import { fromCursor, type Page, type PageOf, toPage } from "../database/pagination.ts";
import { waitForTurn } from "../database/turn-locks.ts";

/**
 * Stores a subscription under a new key, or finds the merchant's live one that equals it. Both happen under a lock, so that
 * concurrent calls, on other servers too, can neither make two equal ones nor exceed the limit together.
 *
 * @returns "limit" when the merchant has as many live ones as it may have, and none equals this one
 */
export async function insertSubscription(
  db: Db,
  subscription: NewSubscription,
  limit = SUBSCRIPTION_LIMIT,
): Promise<{ subscriptionKey: string; isNew: boolean } | "limit"> {
  const { merchant, url, secretCiphertext, type, details, now, caller } = subscription;
  return db.transaction().execute(async (transaction) => {
    await waitForTurn(transaction, "subscription", merchant);
    const { rows: live } = await sql<SubscriptionRecord>`
      ${SELECT_SUBSCRIPTION} where merchant = ${merchant} and ended_at is null
      order by subscription_key`.execute(transaction);
    for (const { subscriptionKey, secretCiphertext: stored, ...target } of live) {
      const isSame = isDeepStrictEqual(toTarget(target), toTarget({ url, type, details }));
      if (isSame && stored !== null && (await subscription.isSecret(stored)))
        return { subscriptionKey, isNew: false };
    }
    if (live.length >= limit) return "limit";

    const subscriptionKey = createSubscriptionKey();
    await sql`
      insert into subscriptions (subscription_key, merchant, url, secret_ciphertext, type, details, created_at, caller)
      values (${subscriptionKey}, ${merchant}, ${url}, ${secretCiphertext}, ${type}, ${[...details]}::text[],
        ${now}::timestamptz, ${caller === undefined ? null : JSON.stringify(caller)}::jsonb)`.execute(
      transaction,
    );
    return { subscriptionKey, isNew: true };
  });
}

/** How many live subscriptions a merchant may have (D26). */
export const SUBSCRIPTION_LIMIT = 100;

export type OneSubscription = { readonly merchant: string; readonly subscriptionKey: string };

export type NewSubscription = {
  readonly merchant: string;
  readonly url: string;
  /** The secretKey as `EncryptionKeys` encrypted it (D29), differently each time. */
  readonly secretCiphertext: Uint8Array;
  /** Whether a stored secret is this secretKey. */
  readonly isSecret: (stored: Uint8Array) => Promise<boolean>;
  readonly type: SubscriptionType;
  /** Names of events or categories; none for `ALL`. */
  readonly details: readonly string[];
  /** The domain's time (D30). */
  readonly now: Date;
  readonly caller?: CallerIdentity;
};

/** What two equal subscriptions have in common, besides their secret: names count as a set. */
function toTarget({ url, type, details }: Pick<SubscriptionRecord, "url" | "type" | "details">) {
  return { url, type, details: new Set(details) };
}

/**
 * Ends a subscription of this merchant, removes its secret, and ends a batch of its waiting deliveries; any server ends the
 * rest, batch by batch. An attempt under way is not interrupted.
 *
 * @returns whether it was live; false also for a key that the merchant does not have
 */
export async function endSubscription(
  db: Db,
  { merchant, subscriptionKey, now }: OneSubscription & { now: Date },
): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update subscriptions set ended_at = ${now}::timestamptz, secret_ciphertext = null, old_secret_ciphertext = null
    where subscription_key = ${subscriptionKey} and merchant = ${merchant} and ended_at is null`.execute(db);
  if (numAffectedRows === 0n) return false;
  await endSomeDeliveries(db, { merchant, subscriptionKey, atMost: END_BATCH_SIZE });
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
  db: Db,
  { merchant, subscriptionKey, atMost }: OneSubscription & { atMost: number },
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
    select count(*)::integer as ended from ended`.execute(db);
  return rows[0]?.ended ?? 0;
}

/** A subscription as its merchant may see it, and its secret, which the merchant may not. Domain times (D30). */
export type SubscriptionRecord = {
  readonly subscriptionKey: string;
  readonly url: string;
  readonly type: SubscriptionType;
  readonly details: readonly string[];
  readonly createdAt: Date;
  readonly endedAt: Date | null;
} & StoredSecrets;

/** The secrets of a subscription, as `EncryptionKeys` encrypted them (D29). Domain times (D30). */
export type StoredSecrets = {
  /** Null when the subscription has ended. */
  readonly secretCiphertext: Uint8Array | null;
  /** The secret before the last change, until it is forgotten, and until when it signs, or signed. */
  readonly oldSecretCiphertext: Uint8Array | null;
  readonly oldSecretUntil: Date | null;
  readonly secretChangedAt: Date | null;
};

export const STORED_SECRETS = sql`
  s.secret_ciphertext as "secretCiphertext", s.old_secret_ciphertext as "oldSecretCiphertext",
  s.old_secret_until as "oldSecretUntil", s.secret_changed_at as "secretChangedAt"`;

const SELECT_SUBSCRIPTION = sql`
  select subscription_key as "subscriptionKey", url, type, details, created_at as "createdAt", ended_at as "endedAt",
    ${STORED_SECRETS}
  from subscriptions s`;

/** The subscriptions of a merchant, newest first, those that have ended too. */
export async function listSubscriptions(
  db: Db,
  { merchant, limit, cursor }: PageOf,
): Promise<Page<SubscriptionRecord> | "invalid-cursor"> {
  const before = fromCursor(cursor, "sub_");
  if (before === "invalid-cursor") return before;
  const { rows } = await sql<SubscriptionRecord>`
    ${SELECT_SUBSCRIPTION}
    where merchant = ${merchant} and (${before}::text is null or subscription_key < ${before}::text)
    order by subscription_key desc
    limit ${limit + 1}`.execute(db);
  return toPage(rows, limit, ({ subscriptionKey }) => subscriptionKey);
}

/** A subscription of this merchant, live or ended. */
export async function findSubscription(db: Db, { merchant, subscriptionKey }: OneSubscription) {
  const { rows } = await sql<SubscriptionRecord>`
    ${SELECT_SUBSCRIPTION} where subscription_key = ${subscriptionKey}
      and merchant = ${merchant}`.execute(db);
  return rows[0];
}

/** The key of a merchant's newest live subscription with this url. */
export async function findSubscriptionTo(db: Db, { merchant, url }: { merchant: string; url: string }) {
  const { rows } = await sql<{ key: string }>`
    select subscription_key as key from subscriptions
    where merchant = ${merchant} and url = ${url} and ended_at is null
    order by subscription_key desc limit 1`.execute(db);
  return rows[0]?.key;
}

/** Forgets who made the subscriptions from before a time (real time, which their keys contain), and returns how many there were. */
export async function forgetSubscribers(db: Db, before: Date): Promise<number> {
  const { numAffectedRows } = await sql`
    update subscriptions set caller = null
    where caller is not null and subscription_key < ${firstIdSince("sub_", before)}`.execute(db);
  return Number(numAffectedRows);
}
