import { sql } from "kysely";
import type { EventType, SubscriptionType } from "../../domain/events.ts";
import type { TraceContext } from "../../domain/trace-context.ts";
import type { Store } from "../database/tables.ts";
import type { AttemptRecord, DeliveryRecord } from "./deliveries.ts";

/** A page of a list: at most `limit` records, after those of the page that returned the cursor. */
type PageOf = {
  readonly merchant: string;
  /** From 1. */
  readonly limit: number;
  readonly cursor?: string | undefined;
};

type Page<Record> = {
  readonly items: readonly Record[];
  /** Where the next page begins; null on the last one. */
  readonly nextCursor: string | null;
};

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
  /** The secret before the last change, until it is forgotten. */
  readonly oldSecretCiphertext: Uint8Array | null;
  /** Until when the old secret signs, or signed. */
  readonly oldSecretUntil: Date | null;
  readonly secretChangedAt: Date | null;
};

const STORED_SECRETS = sql`
  s.secret_ciphertext as "secretCiphertext", s.old_secret_ciphertext as "oldSecretCiphertext",
  s.old_secret_until as "oldSecretUntil", s.secret_changed_at as "secretChangedAt"`;

const SELECT_SUBSCRIPTION = sql`
  select subscription_key as "subscriptionKey", url, type, details, created_at as "createdAt", ended_at as "endedAt",
    ${STORED_SECRETS}
  from subscriptions s`;

/** The subscriptions of a merchant, newest first, those that have ended too. */
export async function listSubscriptions(
  store: Store,
  { merchant, limit, cursor }: PageOf,
): Promise<Page<SubscriptionRecord> | "invalid-cursor"> {
  const before = fromCursor(cursor, /^sub_[0-9a-f-]{36}$/);
  if (before === "invalid-cursor") return before;
  const { rows } = await sql<SubscriptionRecord>`
    ${SELECT_SUBSCRIPTION}
    where merchant = ${merchant} and (${before}::text is null or subscription_key < ${before}::text)
    order by subscription_key desc
    limit ${limit + 1}`.execute(store);
  return toPage(rows, limit, ({ subscriptionKey }) => subscriptionKey);
}

/** A subscription of this merchant, live or ended. */
export async function findSubscription(
  store: Store,
  { merchant, subscriptionKey }: { merchant: string; subscriptionKey: string },
): Promise<SubscriptionRecord | undefined> {
  const { rows } = await sql<SubscriptionRecord>`
    ${SELECT_SUBSCRIPTION} where subscription_key = ${subscriptionKey} and merchant = ${merchant}`.execute(
    store,
  );
  return rows[0];
}

/** The key of a merchant's newest live subscription with this url. */
export async function findSubscriptionTo(
  store: Store,
  { merchant, url }: { merchant: string; url: string },
): Promise<string | undefined> {
  const found = await store
    .selectFrom("subscriptions")
    .select("subscription_key")
    .where("merchant", "=", merchant)
    .where("url", "=", url)
    .where("ended_at", "is", null)
    .orderBy("subscription_key", "desc")
    .limit(1)
    .executeTakeFirst();
  return found?.subscription_key;
}

const SELECT_EVENT = sql`
  select event_id as "eventId", type, resource_id as "resourceId", sequence, occurred_at as "occurredAt", payload
  from events`;

/** An event, with the text that is sent. Domain time (D30). */
export type EventRecord = {
  readonly eventId: string;
  readonly type: EventType;
  readonly resourceId: string;
  readonly sequence: number;
  readonly occurredAt: Date;
  readonly payload: string;
};

/** The events of a merchant, newest first. */
export async function listEvents(
  store: Store,
  {
    merchant,
    resourceId = null,
    limit,
    cursor,
  }: PageOf & { readonly resourceId?: string | null | undefined },
): Promise<Page<EventRecord> | "invalid-cursor"> {
  const before = fromCursor(cursor, /^evt_[0-9a-f-]{36}$/);
  if (before === "invalid-cursor") return before;
  const { rows } = await sql<EventRecord>`
    ${SELECT_EVENT}
    where merchant = ${merchant}
      and (${resourceId}::text is null or resource_id = ${resourceId}::text)
      and (${before}::text is null or event_id < ${before}::text)
    order by event_id desc
    limit ${limit + 1}`.execute(store);
  return toPage(rows, limit, ({ eventId }) => eventId);
}

/** An event of this merchant. */
export async function findEvent(
  store: Store,
  { merchant, eventId }: { merchant: string; eventId: string },
): Promise<EventRecord | undefined> {
  const { rows } = await sql<EventRecord>`
    ${SELECT_EVENT} where event_id = ${eventId} and merchant = ${merchant}`.execute(store);
  return rows[0];
}

/** A delivery with everything from which its requests were made. */
export type SentDeliveryRecord = Omit<DeliveryRecord, "attempts"> & {
  readonly eventId: string;
  readonly url: string;
  readonly payload: string;
  readonly trace: TraceContext | null;
  readonly secrets: StoredSecrets;
  /** The latest, oldest first. */
  readonly attempts: readonly SentAttemptRecord[];
};

type SentAttemptRecord = AttemptRecord & {
  /** When the attempt ended, in domain time (D30). */
  readonly domainAt: Date | null;
  readonly bodyStart: string | null;
};

/** @param attempts how many attempts at most */
export async function findSentDelivery(
  store: Store,
  { merchant, webhookId, attempts }: { merchant: string; webhookId: string; attempts: number },
): Promise<SentDeliveryRecord | undefined> {
  const { rows } = await sql<Omit<SentDeliveryRecord, "attempts" | "secrets"> & StoredSecrets>`
    select d.webhook_id as "webhookId", d.event_id as "eventId", d.subscription_key as "subscriptionKey", e.type, e.resource_id as "resourceId",
      d.state, d.due_at as "dueAt", s.url, e.payload, e.trace, ${STORED_SECRETS}
    from deliveries d
    join events e on e.event_id = d.event_id and e.merchant = d.merchant
    join subscriptions s on s.subscription_key = d.subscription_key and s.merchant = d.merchant
    where d.webhook_id = ${webhookId} and d.merchant = ${merchant}`.execute(store);
  const [delivery] = rows;
  if (!delivery) return undefined;
  const latest = await sql<SentAttemptRecord>`
    select at, domain_at as "domainAt", status, error, milliseconds, response as "bodyStart" from delivery_attempts
    where webhook_id = ${webhookId} and merchant = ${merchant} order by number desc limit ${attempts}`.execute(
    store,
  );
  const { secretCiphertext, oldSecretCiphertext, oldSecretUntil, secretChangedAt, ...sent } = delivery;
  const secrets = { secretCiphertext, oldSecretCiphertext, oldSecretUntil, secretChangedAt };
  return { ...sent, secrets, attempts: latest.rows.toReversed() };
}

/** @param rows one more than the limit where there is a next page */
function toPage<Record>(rows: readonly Record[], limit: number, idOf: (row: Record) => string): Page<Record> {
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  const nextCursor = last && rows.length > limit ? Buffer.from(idOf(last)).toString("base64url") : null;
  return { items, nextCursor };
}

function fromCursor(cursor: string | undefined, form: RegExp): string | null | "invalid-cursor" {
  if (cursor === undefined) return null;
  const id = Buffer.from(cursor, "base64url").toString();
  return form.test(id) ? id : "invalid-cursor";
}
