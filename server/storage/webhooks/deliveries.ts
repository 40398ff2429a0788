import { type RawBuilder, sql } from "kysely";
import type { DeliveryState } from "../../domain/delivery-outcome.ts";
import type { EventType } from "../../domain/events.ts";
import type { Store } from "../database/tables.ts";
import { statementsOf } from "../statements/statements.ts";

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

export type AttemptRecord = {
  /** Real time. */
  readonly at: Date;
  readonly status: number | null;
  readonly error: string | null;
  readonly milliseconds: number;
};

export type DeliveryPage = {
  readonly deliveries: readonly DeliveryRecord[];
  /** Where the next page begins; null on the last one. */
  readonly nextCursor: string | null;
};

type DeliveryRow = {
  webhook_id: string;
  subscription_key: string;
  type: EventType;
  resource_id: string;
  state: DeliveryState;
  due_at: Date | null;
};

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

/**
 * The deliveries of a merchant, newest event first, with their attempts, by one statement: an attempt that ends meanwhile is
 * either in the list and has changed its delivery, or neither.
 *
 * @param limit how many at most, from 1
 * @param cursor `nextCursor` of the page before
 * @returns "invalid-cursor" for a cursor that is not the `nextCursor` of a page
 */
export async function listDeliveries(
  store: Store,
  {
    merchant,
    limit,
    cursor,
    ...choice
  }: DeliveryChoice & {
    merchant: string;
    limit: number;
    cursor?: string | undefined;
  },
): Promise<DeliveryPage | "invalid-cursor"> {
  const before = cursor === undefined ? null : fromCursor(cursor);
  if (before === undefined) return "invalid-cursor";
  const { rows } = await sql<DeliveryRow & { attempts: AttemptJson[] }>`
    select d.webhook_id, d.subscription_key, e.type, e.resource_id, d.state, d.due_at, coalesce((
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
    limit ${limit + 1}`.execute(store); // one more than requested shows whether there is a next page

  const page = rows.slice(0, limit);
  const deliveries = page.map((row) => toRecord(row, row.attempts.map(toAttempt)));
  const last = deliveries.at(-1);
  return { deliveries, nextCursor: last && rows.length > limit ? toCursor(last.webhookId) : null };
}

function toRecord(row: DeliveryRow, attempts: readonly AttemptRecord[]): DeliveryRecord {
  return {
    webhookId: row.webhook_id,
    subscriptionKey: row.subscription_key,
    type: row.type,
    resourceId: row.resource_id,
    state: row.state,
    dueAt: row.due_at,
    attempts,
  };
}

/** An attempt as JSON has it. */
type AttemptJson = Omit<AttemptRecord, "at"> & { readonly at: string };

function toAttempt({ at, ...attempt }: AttemptJson): AttemptRecord {
  return { at: new Date(at), ...attempt };
}

async function listAttempts(
  store: Store,
  { merchant, webhookId }: { merchant: string; webhookId: string },
): Promise<AttemptRecord[]> {
  const { rows } = await sql<AttemptRecord>`
    select at, status, error, milliseconds from delivery_attempts
    where webhook_id = ${webhookId} and merchant = ${merchant}
    order by number desc limit ${MAX_ATTEMPTS}`.execute(store);
  return rows.toReversed();
}

function toCursor(webhookId: string): string {
  return Buffer.from(webhookId).toString("base64url");
}

function fromCursor(cursor: string): string | undefined {
  const webhookId = Buffer.from(cursor, "base64url").toString();
  return /^msg_[0-9a-f-]{36}$/.test(webhookId) ? webhookId : undefined;
}

/**
 * Makes a delivery due now, in any state and with the same webhook id. One that waits for its next attempt goes on with its
 * schedule; one that is finished is sent exactly once more (D23). During an attempt it is due after that attempt.
 *
 * @param now the domain's time (D30)
 * @returns the delivery after the change, or undefined when the merchant has none with this id whose subscription is live: an
 *   ended one has no secret to sign with
 */
export async function redeliver(
  store: Store,
  { merchant, webhookId, now }: { merchant: string; webhookId: string; now: Date },
): Promise<DeliveryRecord | undefined> {
  const [row] = await makeDue(store, { merchant, now, which: sql<boolean>`d.webhook_id = ${webhookId}` });
  return row && toRecord(row, await listAttempts(store, { merchant, webhookId }));
}

/**
 * Redelivers all deliveries that are chosen and whose subscription is live.
 *
 * @param now the domain's time (D30)
 * @returns how many there are
 */
export async function redeliverMany(
  store: Store,
  { merchant, now, ...choice }: DeliveryChoice & { merchant: string; now: Date },
): Promise<number> {
  return (await makeDue(store, { merchant, now, which: isChosen(choice) })).length;
}

function makeDue(
  store: Store,
  { merchant, which, now }: { merchant: string; which: RawBuilder<boolean>; now: Date },
): Promise<DeliveryRow[]> {
  const change = sql<DeliveryRow>`
    update deliveries d set
      only_once = d.only_once or d.state <> 'PENDING',
      redelivery_requested = d.sending,
      state = 'PENDING',
      due_at = case when d.sending then d.due_at else ${now}::timestamptz end
    from subscriptions s, events e
    where ${which} and d.merchant = ${merchant}
      and s.subscription_key = d.subscription_key and s.merchant = ${merchant} and s.ended_at is null
      and e.event_id = d.event_id and e.merchant = ${merchant}
    returning d.webhook_id, d.subscription_key, e.type, e.resource_id, d.state, d.due_at`;
  return statementsOf(store).changeAndNotify(store, change);
}
