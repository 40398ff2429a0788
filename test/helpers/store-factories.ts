import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { createPaymentId, createRefundId } from "../../server/domain/ids.ts";
import { firstStatus } from "../../server/domain/refunds.ts";
import type { Store } from "../../server/storage/database/tables.ts";
import { authorizeDue } from "../../server/storage/payments/due-refunds.ts";
import { getPayment } from "../../server/storage/payments/payment-queries.ts";
import { insertPayment, type NewPayment } from "../../server/storage/payments/payments.ts";
import {
  createRefundStore,
  type RefundStore,
  saveRefundInTime,
} from "../../server/storage/payments/refund-batches.ts";
import type { ChangedRefund } from "../../server/storage/payments/refund-transitions.ts";
import type {
  DebitRecord,
  PaymentRecord,
  RefundRecord,
} from "../../server/storage/statements/payment-record.ts";
import type { LoadedOriginal, NewRefund } from "../../server/storage/statements/refunds.ts";
import {
  findByRequestKeys,
  loadOriginals,
  saveRefunds,
  statementsOf,
} from "../../server/storage/statements/statements.ts";
import { bindStore } from "../../server/storage/storage.ts";

/** A Monday, 10:00 in New York. */
export const NOW = new Date("2026-11-16T15:00:00.000Z");
/** Long enough before, for a refund to be authorized at once. */
export const LONG_AGO = new Date("2026-10-01T15:00:00.000Z");
/** When refunds of payments that settled at NOW are due. */
export const LATER = new Date("2026-11-30T15:00:00.000Z");

/** A new merchant. */
export function newMerchant(): string {
  return `merchant_${randomUUID()}`;
}

/** Creates an original payment, by default of 100.00 and settled at NOW, without an event. */
export async function createPayment(
  store: Store,
  payment: Partial<NewPayment> & { merchant: string },
): Promise<DebitRecord> {
  const record = await insertPayment(store, {
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
export async function insertPayments(store: Store, merchant: string, count: number): Promise<void> {
  await sql`
    insert into payments (payment_id, merchant, kind, status, amount_cents, settled_at, history, sequence, created_at)
    select 'pay_' || n, ${merchant}, 'DEBIT', 'SETTLED', 1, now(), '[]', 0, now() + n * interval '1 s'
    from generate_series(1, ${count}::integer) as n`.execute(store);
}

type PaymentKey = { readonly merchant: string; readonly paymentId: string };

type RefundFields = {
  amountCents?: number;
  requestKey?: string;
  clientReferenceId?: string;
  now?: Date;
};

/** The statements on which `createRefundStore` works. */
export const REFUND_STATEMENTS = { loadOriginals, saveRefunds, saveRefundInTime, findByRequestKeys };

const refundStores = new WeakMap<Store, RefundStore>();

/** As a server has it: refunds that are issued at the same time share statements. */
function refundStoreOf(store: Store): RefundStore {
  const known = refundStores.get(store);
  if (known) return known;
  const created = createRefundStore(bindStore(store, REFUND_STATEMENTS));
  refundStores.set(store, created);
  return created;
}

/** The data on which a refund of this payment is decided. */
export async function loadOriginal(store: Store, key: PaymentKey): Promise<LoadedOriginal> {
  const [loaded] = await loadOriginals(store, [key]);
  if (!loaded) throw new Error("the statement returned no row");
  return loaded;
}

/** Saves one refund, and resolves with whether it was saved. */
export async function saveRefund(store: Store, refund: NewRefund): Promise<boolean> {
  const [saved] = await saveRefunds(store, [refund]);
  return saved === true;
}

/** A refund, by default of 10.00, decided on the data stored now and not yet saved. */
export async function decideRefund(
  store: Store,
  { merchant, paymentId }: PaymentKey,
  fields: RefundFields = {},
): Promise<NewRefund> {
  return decide({ merchant, paymentId }, await loadOriginal(store, { merchant, paymentId }), fields);
}

function decide(
  { merchant, paymentId }: PaymentKey,
  { original, held }: LoadedOriginal,
  fields: RefundFields,
): NewRefund {
  const { amountCents = 10_00, now = NOW } = fields;
  if (!original) throw new Error(`no payment ${paymentId}`);
  return {
    paymentId: createRefundId(),
    merchant,
    original,
    decision: firstStatus(original, amountCents, { now, held }),
    amountCents,
    requestKey: fields.requestKey ?? randomUUID(),
    clientReferenceId: fields.clientReferenceId ?? null,
    softDescriptor: null,
    now,
  };
}

/** Issues a refund as a caller would: decides and saves until it is saved, or its key turns out to be used. */
export async function issueRefund(
  store: Store,
  payment: PaymentKey,
  fields: RefundFields = {},
): Promise<RefundRecord | "duplicate"> {
  const requestKey = fields.requestKey ?? randomUUID();
  const refunds = refundStoreOf(store);
  for (;;) {
    const refund = decide(payment, await refunds.loadOriginal(payment), { ...fields, requestKey });
    if (await refunds.saveRefund(refund)) return getRefund(store, refund);
    if (await refunds.findByRequestKey({ merchant: payment.merchant, requestKey })) return "duplicate";
  }
}

/** Issues a refund whose key must be new. */
export async function createRefund(
  store: Store,
  payment: PaymentKey,
  fields: RefundFields = {},
): Promise<RefundRecord> {
  const refund = await issueRefund(store, payment, fields);
  if (refund === "duplicate") throw new Error("the requestKey is used");
  return refund;
}

/**
 * Makes the database refuse events until the returned function is called.
 *
 * @param of the type of the events, or their payment or refund
 * @param code of PostgreSQL, for the error
 */
export async function refuseEvents(store: Store, of: string, code = "P0001"): Promise<() => Promise<void>> {
  await sql`
    create function refuse_event() returns trigger language plpgsql as $$
      begin raise exception 'refused by the test' using errcode = ${sql.lit(code)}; end $$`.execute(store);
  await sql`
    create trigger refuse before insert on events for each row
      when (${sql.lit(of)} in (new.type, new.resource_id)) execute function refuse_event()`.execute(store);
  return async () => {
    await sql`drop function refuse_event cascade`.execute(store);
  };
}

/** Copies an existing refund many times, which is faster than issuing them. */
export async function copyRefund(store: Store, { paymentId }: PaymentKey, count: number): Promise<void> {
  await sql`
    insert into payments (payment_id, merchant, kind, status, amount_cents, request_key, original_payment_id, due_at,
      history, sequence, created_at)
    select 'rfd_' || number, merchant, kind, status, amount_cents, 'key_' || number, original_payment_id, due_at,
      history, sequence, created_at
    from payments, generate_series(1, ${count}::integer) as number
    where payment_id = ${paymentId}`.execute(store);
}

/** Authorizes the refunds that are due, and returns them with the outcome of the run. */
export async function runDue(store: Store, now: Date, sizes: { page?: number; transaction?: number } = {}) {
  const authorized: ChangedRefund[] = [];
  const onAuthorized = (refunds: readonly ChangedRefund[]) => void authorized.push(...refunds);
  return { ...(await authorizeDue(store, now, { ...sizes, onAuthorized })), authorized };
}

export async function getRefund(store: Store, key: PaymentKey): Promise<RefundRecord> {
  const record = await getPayment(store, key);
  if (record?.kind !== "REFUND") throw new Error(`no refund ${key.paymentId}`);
  return record;
}

export async function getDebit(store: Store, key: PaymentKey): Promise<DebitRecord> {
  const record = await getPayment(store, key);
  if (record?.kind !== "DEBIT") throw new Error(`no original payment ${key.paymentId}`);
  return record;
}

/** Every payment and refund of a merchant. */
export async function allRecords(store: Store, merchant: string): Promise<PaymentRecord[]> {
  const rows = await store
    .selectFrom("payments")
    .select("payment_id")
    .where("merchant", "=", merchant)
    .orderBy("payment_id")
    .execute();
  const records = await Promise.all(
    rows.map((row) => getPayment(store, { merchant, paymentId: row.payment_id })),
  );
  return records.filter((record) => record !== undefined);
}

/** The refunds of a merchant. */
export async function allRefunds(store: Store, merchant: string): Promise<RefundRecord[]> {
  return (await allRecords(store, merchant)).filter((record) => record.kind === "REFUND");
}

/** The events of a merchant, oldest of each resource first, their payloads parsed. */
export async function allEvents(store: Store, merchant: string) {
  const rows = await store
    .selectFrom("events")
    .select(["type", "resource_id", "sequence", "occurred_at", "payload"])
    .where("merchant", "=", merchant)
    .orderBy("resource_id")
    .orderBy("sequence")
    .execute();
  return rows.map(({ payload, ...row }) => ({ ...row, payload: JSON.parse(payload) as unknown }));
}

/**
 * PostgreSQL only: resolves when the given number of sessions on this database wait for locks; rejects when the work ends
 * before that.
 */
export async function untilWaitingForLock(store: Store, work: Promise<unknown>, count = 1): Promise<void> {
  let ended = false;
  const end = () => {
    ended = true;
  };
  work.then(end, end);
  while (!ended) {
    if ((await countWaitingForLocks(store)) >= count) return;
  }
  throw new Error("nothing had to wait");
}

async function countWaitingForLocks(store: Store): Promise<number> {
  const count =
    "select count(*)::integer as count from pg_stat_activity where wait_event_type = 'Lock' and datname =";
  const here = sql<{ count: number }>`${sql.raw(count)} current_database()`;
  const onAll = sql<{ count: number }>`
    select sum(result::integer)::integer as count
    from run_command_on_all_nodes(format('%s %L', ${count}::text, current_database()))`;
  const { rows } = await (statementsOf(store).batchKey ? onAll : here).execute(store);
  return rows[0]?.count ?? 0;
}
