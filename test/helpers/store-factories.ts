/** Makes payments, refunds and events in a database, for tests of the store without a server. */
import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import type { CallerIdentity } from "../../server/domain/caller-identity.ts";
import { createPaymentId, createRefundId } from "../../server/domain/ids.ts";
import { firstStatus } from "../../server/domain/refund-rules.ts";
import type { Db } from "../../server/storage/database/db-types.ts";
import {
  authorizeDue,
  type DueOptions,
  type DueRun,
} from "../../server/storage/payments/authorize-due-refunds.ts";
import type { ChangedRefund } from "../../server/storage/payments/original-transitions.ts";
import { insertPayment, type NewPayment } from "../../server/storage/payments/original-transitions.ts";
import type {
  DebitRecord,
  NewRefund,
  PaymentKey,
  PaymentRecord,
  RefundRecord,
} from "../../server/storage/payments/payment-record.ts";
import { getPayment } from "../../server/storage/payments/payment-record.ts";
import { publishPayouts } from "../../server/storage/payments/payout-feed.ts";
import { createRefundQueue, type RefundQueue } from "../../server/storage/payments/refund-queue.ts";
import {
  type LoadedOriginal,
  loadOriginals,
  saveRefunds,
} from "../../server/storage/payments/save-refunds.ts";
import { bindFunctions } from "../../server/storage/store-functions.ts";
import { type Attempt, claimDeliveries } from "../../server/storage/webhooks/claim-deliveries.ts";
import { emitResourceEvent } from "../../server/storage/webhooks/event-fan-out.ts";
import { insertSubscription } from "../../server/storage/webhooks/subscriptions.ts";

/** A Monday, 10:00 in New York. */
export const NOW = new Date("2026-11-16T15:00:00.000Z");
/** So long before NOW that a refund is authorized at once. */
export const LONG_AGO = new Date("2026-10-01T15:00:00.000Z");
/** When refunds of payments that settled at NOW are due. */
export const LATER = new Date("2026-11-30T15:00:00.000Z");

export function newMerchant(): string {
  return `merchant_${randomUUID()}`;
}

/** Publishes payouts as the only server, and notes in the feed that they are known. */
export async function publish(db: Db): Promise<void> {
  const server = "00000000-0000-4000-8000-000000000000";
  const published = await publishPayouts(db, { server, known: 0 });
  if (published.lost === null) await publishPayouts(db, { server, known: published.last });
}

/** Creates an original payment, by default of 100.00 and settled at NOW, without an event. */
export async function createPayment(
  db: Db,
  payment: Partial<NewPayment> & { merchant: string },
): Promise<DebitRecord> {
  const record = await insertPayment(db, {
    paymentId: createPaymentId(),
    status: "SETTLED",
    amountCents: 100_00,
    settledAt: payment.status === "PROCESSING" ? null : NOW,
    now: NOW,
    emitted: false,
    ...payment,
  });
  if (!record) throw new Error("the payment exists already");
  return record;
}

/** Adds many settled payments of a merchant, one a second from now on, which is faster than creating them. */
export async function insertPayments(db: Db, merchant: string, count: number): Promise<void> {
  await sql`
    insert into payments (payment_id, merchant, kind, status, amount_cents, settled_at, history, sequence, created_at)
    select 'pay_' || n, ${merchant}, 'DEBIT', 'SETTLED', 1, now(), '[]', 0, now() + n * interval '1 s'
    from generate_series(1, ${count}::integer) as n`.execute(db);
}

type RefundFields = {
  amountCents?: number;
  requestKey?: string;
  clientReferenceId?: string;
  now?: Date;
};

const refundQueues = new WeakMap<Db, RefundQueue>();

/** As a server has it: refunds that are issued at the same time share statements. */
function refundQueueOf(db: Db): RefundQueue {
  const known = refundQueues.get(db);
  if (known) return known;
  const created = createRefundQueue(bindFunctions({ db, background: db }));
  refundQueues.set(db, created);
  return created;
}

/** The data on which a refund of this payment is decided. */
export async function loadOriginal(db: Db, key: PaymentKey): Promise<LoadedOriginal> {
  const [loaded] = await loadOriginals(db, [key]);
  if (!loaded) throw new Error("the statement returned no row");
  return loaded;
}

/** Saves one refund, and resolves with whether it was saved. */
export async function saveRefund(db: Db, refund: NewRefund): Promise<boolean> {
  const [saved] = await saveRefunds(db, [refund]);
  return saved === true;
}

/** A refund, by default of 10.00, decided on the data stored now and not yet saved. */
export async function decideRefund(
  db: Db,
  { merchant, paymentId }: PaymentKey,
  fields: RefundFields = {},
): Promise<NewRefund> {
  return decide({ merchant, paymentId }, await loadOriginal(db, { merchant, paymentId }), fields);
}

function decide(
  { merchant, paymentId }: PaymentKey,
  { original }: LoadedOriginal,
  fields: RefundFields,
): NewRefund {
  const { amountCents = 10_00, now = NOW } = fields;
  if (!original) throw new Error(`no payment ${paymentId}`);
  return {
    paymentId: createRefundId(),
    merchant,
    original,
    decision: firstStatus(original, amountCents, { now }),
    amountCents,
    requestKey: fields.requestKey ?? randomUUID(),
    clientReferenceId: fields.clientReferenceId ?? null,
    softDescriptor: null,
    now,
  };
}

/** Issues a refund as a caller would: decides and saves until it is saved, or its key turns out to be used. */
export async function issueRefund(
  db: Db,
  payment: PaymentKey,
  fields: RefundFields = {},
): Promise<RefundRecord | "duplicate"> {
  const requestKey = fields.requestKey ?? randomUUID();
  const refunds = refundQueueOf(db);
  for (;;) {
    const refund = decide(payment, await refunds.loadOriginal(payment), { ...fields, requestKey });
    if (await refunds.saveRefund(refund)) return getRefund(db, refund);
    if (await refunds.findByRequestKey({ merchant: payment.merchant, requestKey })) return "duplicate";
  }
}

/** Issues a refund whose key must be new. */
export async function createRefund(
  db: Db,
  payment: PaymentKey,
  fields: RefundFields = {},
): Promise<RefundRecord> {
  const refund = await issueRefund(db, payment, fields);
  if (refund === "duplicate") throw new Error("the requestKey is used");
  return refund;
}

/**
 * Makes the database refuse events until the returned function is called.
 *
 * @param of the type of the events, or their payment or refund
 * @param code of PostgreSQL, for the error
 */
export async function refuseEvents(db: Db, of: string, code = "P0001"): Promise<() => Promise<void>> {
  await sql`
    create function refuse_event() returns trigger language plpgsql as $$
      begin raise exception 'refused by the test' using errcode = ${sql.lit(code)}; end $$`.execute(db);
  await sql`
    create trigger refuse before insert on events for each row
      when (${sql.lit(of)} in (new.type, new.resource_id)) execute function refuse_event()`.execute(db);
  return async () => {
    await sql`drop function refuse_event cascade`.execute(db);
  };
}

/** As the store's `authorizeDue`. */
export function authorizeDueIn(db: Db, now: Date, options?: DueOptions): Promise<DueRun> {
  return authorizeDue(bindFunctions({ db, background: db }), now, options);
}

/** Authorizes the refunds that are due, and returns them with the outcome of the run. */
export async function runDue(db: Db, now: Date, sizes: { page?: number; transaction?: number } = {}) {
  const authorized: ChangedRefund[] = [];
  const onAuthorized = (refunds: readonly ChangedRefund[]) => void authorized.push(...refunds);
  return { ...(await authorizeDueIn(db, now, { ...sizes, onAuthorized })), authorized };
}

export async function getRefund(db: Db, key: PaymentKey): Promise<RefundRecord> {
  const record = await getPayment(db, key);
  if (record?.kind !== "REFUND") throw new Error(`no refund ${key.paymentId}`);
  return record;
}

export async function getDebit(db: Db, key: PaymentKey): Promise<DebitRecord> {
  const record = await getPayment(db, key);
  if (record?.kind !== "DEBIT") throw new Error(`no original payment ${key.paymentId}`);
  return record;
}

/** Every payment and refund of a merchant. */
export async function allRecords(db: Db, merchant: string): Promise<PaymentRecord[]> {
  const { rows } = await sql<{ id: string }>`
    select payment_id as id from payments where merchant = ${merchant} order by payment_id`.execute(db);
  const records = await Promise.all(rows.map(({ id }) => getPayment(db, { merchant, paymentId: id })));
  return records.filter((record) => record !== undefined);
}

export async function allRefunds(db: Db, merchant: string): Promise<RefundRecord[]> {
  return (await allRecords(db, merchant)).filter((record) => record.kind === "REFUND");
}

/** The events of a merchant, oldest of each resource first, their payloads parsed. */
export async function allEvents(db: Db, merchant: string) {
  type Row = { type: string; resource_id: string; sequence: number; occurred_at: Date; payload: string };
  const { rows } = await sql<Row>`
    select type, resource_id, sequence, occurred_at, payload from events
    where merchant = ${merchant} order by resource_id, sequence`.execute(db);
  return rows.map(({ payload, ...row }) => ({ ...row, payload: JSON.parse(payload) as unknown }));
}

/**
 * PostgreSQL only: resolves when the given number of sessions on this database wait for locks; rejects when the work ends
 * before that.
 */
export async function untilWaitingForLock(db: Db, work: Promise<unknown>, count = 1): Promise<void> {
  let ended = false;
  const end = () => {
    ended = true;
  };
  work.then(end, end);
  while (!ended) {
    const { rows } = await sql`
      select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`.execute(
      db,
    );
    if (rows.length >= count) return;
  }
  throw new Error("nothing had to wait");
}

export const LEASE_MS = 60_000;

/** A new subscription of a merchant to all events. Returns its key. */
export async function createSubscription(
  store: Db,
  merchant: string,
  caller: CallerIdentity | undefined = undefined,
): Promise<string> {
  const saved = await insertSubscription(store, {
    merchant,
    url: "https://merchant.example.com/",
    secretCiphertext: Buffer.from("encrypted"),
    isSecret: async () => false,
    type: "ALL",
    details: [],
    now: NOW,
    ...(caller && { caller }),
  });
  if (saved === "limit") throw new Error("too many subscriptions");
  return saved.subscriptionKey;
}

/** An event of a merchant, with a delivery that is due at NOW for each of the merchant's subscriptions. */
export async function createEvent(store: Db, merchant: string, resourceId = "acc_1"): Promise<void> {
  await emitResourceEvent(store, { merchant, type: "account.linked", resourceId, now: NOW });
}

/** Claims due deliveries of a subscription; by default up to ten, at NOW. */
export function claim(
  store: Db,
  { merchant, subscriptionKey }: { merchant: string; subscriptionKey: string },
  { limit = 10, now = NOW, leaseMs = LEASE_MS } = {},
): Promise<Attempt[]> {
  return claimDeliveries(store, { claimLimits: [{ subscriptionKey, merchant, limit }], now, leaseMs });
}
