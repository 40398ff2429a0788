import { type RawBuilder, sql } from "kysely";
import type { DeliveryState } from "../../domain/delivery-outcome.ts";
import type { EventType } from "../../domain/event-payloads.ts";
import type { TraceContext } from "../../domain/trace-context.ts";
import type { Db } from "../database/db-types.ts";
import { notify } from "../database/listen-notify.ts";
import { fromCursor, type Page, type PageOf, toPage } from "../database/pagination.ts";
import { DELIVERIES_CHANNEL } from "./event-fan-out.ts";
import type { AttemptResult } from "./record-attempts.ts";
import { STORED_SECRETS, type StoredSecrets } from "./subscriptions.ts";

/**
 * The deliveries of a merchant, newest event first, with their attempts, by one statement: an attempt that ends meanwhile is
 * either in the list and has changed its delivery, or neither.
 * @returns "invalid-cursor" for a cursor that is not the `nextCursor` of a page
 */
export async function listDeliveries(
  db: Db,
  { merchant, limit, cursor, ...choice }: DeliveryChoice & PageOf,
): Promise<Page<DeliveryRecord> | "invalid-cursor"> {
  const before = fromCursor(cursor, "msg_");
  if (before === "invalid-cursor") return before;
  const { rows } = await sql<
    Omit<DeliveryRecord, "attempts"> & { attempts: (AttemptRecord & { at: string })[] }
  >`
    select ${DELIVERY_COLUMNS}, coalesce((
      select json_agg(json_build_object('at', at, 'status', status, 'error', error, 'milliseconds', milliseconds)
        order by number)
      from (
        select number, at, status, error, milliseconds from delivery_attempts a
        where a.webhook_id = d.webhook_id and a.merchant = ${merchant} order by number desc limit ${MAX_ATTEMPTS}
      ) as latest), '[]') as attempts
    from deliveries d join events e on e.event_id = d.event_id and e.merchant = d.merchant
    where d.merchant = ${merchant}
      and ${isChosen(choice)}
      and (${before}::text is null or d.webhook_id < ${before}::text)
    order by d.webhook_id desc
    limit ${limit + 1}`.execute(db); // one more than requested shows whether there is a next page
  const deliveries = rows.map((row) => {
    return { ...row, attempts: row.attempts.map((attempt) => ({ ...attempt, at: new Date(attempt.at) })) };
  });
  return toPage(deliveries, limit, ({ webhookId }) => webhookId);
}

/** How many attempts of a delivery are listed: the latest ones. */
const MAX_ATTEMPTS = 1_000;

/** A delivery as its merchant may see it. */
export type DeliveryRecord = {
  readonly webhookId: string;
  readonly subscriptionKey: string;
  readonly type: EventType;
  readonly resourceId: string;
  readonly state: DeliveryState;
  /** Domain time (D30). */
  readonly dueAt: Date | null;
  /** Oldest first. */
  readonly attempts: readonly AttemptRecord[];
};

/** `at` is real time. */
export type AttemptRecord = Pick<AttemptResult, "at" | "status" | "error" | "milliseconds">;

/** Chooses deliveries of a merchant by all of the fields that are given. */
export type DeliveryChoice = {
  readonly subscriptionKey?: string | undefined;
  readonly eventId?: string | undefined;
  readonly state?: DeliveryState | undefined;
  /** A part of an identifier or of the event's name, in upper or lower case. */
  readonly text?: string | undefined;
};

/** Whether a delivery `d` of an event `e` is chosen. */
function isChosen({ subscriptionKey, eventId, state, text }: DeliveryChoice): RawBuilder<boolean> {
  const given = [
    subscriptionKey !== undefined && sql`d.subscription_key = ${subscriptionKey}`,
    eventId !== undefined && sql`d.event_id = ${eventId}`,
    state !== undefined && sql`d.state = ${state}`,
    text !== undefined &&
      sql`strpos(lower(d.webhook_id || ' ' || d.event_id || ' ' || e.type || ' ' || e.resource_id), lower(${text}::text)) > 0`,
  ];
  return sql.join([sql`true`, ...given.filter((condition) => condition !== false)], sql` and `);
}

const DELIVERY_COLUMNS = sql`d.webhook_id as "webhookId", d.subscription_key as "subscriptionKey", e.type,
  e.resource_id as "resourceId", d.state, d.due_at as "dueAt"`;

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

/** `domainAt`: when the attempt ended, in domain time (D30). */
type SentAttemptRecord = AttemptRecord & {
  readonly domainAt: Date | null;
  readonly bodyStart: string | null;
};

/** @param attempts how many attempts at most */
export async function findSentDelivery(
  db: Db,
  { merchant, webhookId, attempts }: { merchant: string; webhookId: string; attempts: number },
): Promise<SentDeliveryRecord | undefined> {
  const { rows } = await sql<Omit<SentDeliveryRecord, "attempts" | "secrets"> & StoredSecrets>`
    select ${DELIVERY_COLUMNS}, d.event_id as "eventId", s.url, e.payload, e.trace, ${STORED_SECRETS}
    from deliveries d
    join events e on e.event_id = d.event_id and e.merchant = d.merchant
    join subscriptions s on s.subscription_key = d.subscription_key and s.merchant = d.merchant
    where d.webhook_id = ${webhookId} and d.merchant = ${merchant}`.execute(db);
  if (!rows[0]) return undefined;
  const { secretCiphertext, oldSecretCiphertext, oldSecretUntil, secretChangedAt, ...sent } = rows[0];
  const secrets = { secretCiphertext, oldSecretCiphertext, oldSecretUntil, secretChangedAt };
  return { ...sent, secrets, attempts: await listAttempts(db, { merchant, webhookId, limit: attempts }) };
}

type AttemptsOf = { merchant: string; webhookId: string; limit: number };

async function listAttempts(db: Db, { merchant, webhookId, limit }: AttemptsOf) {
  const { rows } = await sql<SentAttemptRecord>`
    select at, domain_at as "domainAt", status, error, milliseconds, response as "bodyStart" from delivery_attempts
    where webhook_id = ${webhookId} and merchant = ${merchant} order by number desc
    limit ${limit}`.execute(db);
  return rows.toReversed();
}

/**
 * Makes a delivery due now, in any state and with the same webhook id. One that waits for its next attempt goes on with its
 * schedule; one that is finished is sent exactly once more (D23). During an attempt it is due after that attempt.
 * @param now the domain's time (D30)
 * @returns the delivery after the change, or undefined when the merchant has none with this id whose subscription is live: an
 *   ended one has no secret to sign with
 */
export async function redeliver(
  db: Db,
  { merchant, webhookId, now }: { merchant: string; webhookId: string; now: Date },
): Promise<DeliveryRecord | undefined> {
  const { rows } = await sql<Omit<DeliveryRecord, "attempts">>`
    update deliveries d set
      only_once = d.only_once or d.state <> 'PENDING',
      redelivery_requested = d.sending,
      state = 'PENDING',
      due_at = case when d.sending then d.due_at else ${now}::timestamptz end
    from subscriptions s, events e
    where d.webhook_id = ${webhookId} and d.merchant = ${merchant}
      and s.subscription_key = d.subscription_key and s.merchant = ${merchant} and s.ended_at is null
      and e.event_id = d.event_id and e.merchant = ${merchant}
    returning ${DELIVERY_COLUMNS}`.execute(db);
  const [row] = rows;
  if (!row) return undefined;
  // The change is stored, so the caller gets no error if this fails: every server finds the delivery a second later.
  await sql`select ${notify(DELIVERIES_CHANNEL, merchant)}`.execute(db).catch(() => {});
  const attempts = await listAttempts(db, { merchant, webhookId, limit: MAX_ATTEMPTS });
  return { ...row, attempts: attempts.map(({ domainAt: _, bodyStart: __, ...attempt }) => attempt) };
}
