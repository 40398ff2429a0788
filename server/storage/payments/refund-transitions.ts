import { type RawBuilder, sql } from "kysely";
import { refundEvent, toRefundView } from "../../domain/events.ts";
import { type RefundFailure, type RefundStatus, statusesLeftBy } from "../../domain/refunds.ts";
import type { HistoryEntry, Store } from "../database/tables.ts";
import { insertEvents, statementsOf, toBatches } from "../statements/statements.ts";
import { isHeld, listHolds } from "./holds.ts";
import { awaitPayout } from "./payouts.ts";

/** The status that refunds take, when they take it, and why. */
export type RefundChange = {
  readonly to: RefundStatus;
  readonly at: Date;
  readonly failure: RefundFailure | null;
};

type ChangedRow = {
  payment_id: string;
  merchant: string;
  client_reference_id: string | null;
  amount_cents: number;
  sequence: number;
};

/** A refund whose status has changed. */
export type ChangedRefund = { readonly paymentId: string; readonly merchant: string };

/**
 * Changes the status of the refunds that a condition on `payments` selects, with their history and one event for each. The
 * transaction must hold the locks of their original payments (D12a), and the condition must name the statuses from which
 * there is such a transition.
 *
 * @returns the refunds that changed, and the sum of their amounts in cents
 */
export async function transitionRefunds(
  transaction: Store,
  which: RawBuilder<boolean>,
  change: RefundChange,
): Promise<{ refunds: ChangedRefund[]; amountCents: number }> {
  const { to, at, failure } = change;
  const entry: HistoryEntry = { status: to, at: at.toISOString() };
  const { rows } = await sql<ChangedRow>`
    update payments
    set status = ${to}, error_code = ${failure?.errorCode ?? null}, error_message = ${failure?.errorMessage ?? null},
      history = history || ${JSON.stringify(entry)}::jsonb, sequence = sequence + 1
    where kind = 'REFUND' and ${which}
    returning payment_id, merchant, ${statementsOf(transaction).returnedReference}, amount_cents, sequence`.execute(
    transaction,
  );

  const refunds = rows.map(({ payment_id: paymentId, merchant }) => ({ paymentId, merchant }));
  if (to === "AUTHORIZED") await awaitPayout(transaction, refunds, at);
  await insertEvents(
    transaction,
    rows.map((row) => toEvent(row, change)),
  );
  return {
    refunds,
    amountCents: rows.reduce((sum, row) => sum + row.amount_cents, 0),
  };
}

function toEvent(row: ChangedRow, { to, at, failure }: RefundChange) {
  const { payment_id: paymentId, client_reference_id: clientReferenceId, merchant, sequence } = row;
  const view = toRefundView({ paymentId, status: to, clientReferenceId, failure });
  return {
    ...refundEvent(view, { at, sequence }),
    merchant,
    resourceId: paymentId,
    sequence,
    occurredAt: at,
  };
}

const BATCH_SIZE = 1_000;

type DueRefund = { payment_id: string; merchant: string; original_payment_id: string };

/**
 * Authorises every refund that is due and not held, in batches of one transaction each, until none is left. Several processes may run it
 * at once, and each refund still changes once: one waits for the locks of the other, and then finds the work done.
 *
 * @param now the domain's time (D30)
 * @param batchSize the largest number of refunds in one transaction
 * @returns the refunds that this call authorised
 */
export async function authorizeDue(
  store: Store,
  now: Date,
  batchSize = BATCH_SIZE,
): Promise<ChangedRefund[]> {
  const authorised: ChangedRefund[] = [];
  const failures: unknown[] = [];
  for (;;) {
    const due = await findDue(store, now, batchSize);
    if (due.length === 0) return authorised;
    for (const batch of toBatches(due, statementsOf(store).batchKey)) {
      try {
        authorised.push(
          ...(await store.transaction().execute((transaction) => authorize(transaction, batch, now))),
        );
      } catch (error) {
        failures.push(error); // the refunds of other merchants must not wait for this one
      }
    }
    if (failures.length > 0) throw failures[0];
  }
}

async function findDue(store: Store, now: Date, limit: number): Promise<DueRefund[]> {
  const holds = await listHolds(store);
  if (holds.some(({ merchant }) => merchant === undefined)) return [];
  const held = holds.flatMap(({ merchant }) => merchant ?? []);
  return statementsOf(store).findOverall(
    store,
    ({ payments, value, list }) => sql<DueRefund>`
      select payment_id, merchant, original_payment_id from ${payments}
      where kind = 'REFUND' and status = 'PENDING' and due_at <= ${value(now)}::timestamptz
        and merchant <> all(${list(held)})
      order by due_at
      limit ${value(limit)}`,
  );
}

async function authorize(transaction: Store, due: readonly DueRefund[], now: Date): Promise<ChangedRefund[]> {
  const { isOneOf } = statementsOf(transaction);
  const toKeys = (id: "payment_id" | "original_payment_id") =>
    due.map((refund) => ({ paymentId: refund[id], merchant: refund.merchant }));

  // D12a. Always in the same order, so that two processes with overlapping batches can't deadlock.
  await sql`
    select from payments
    where ${isOneOf(toKeys("original_payment_id"))}
    order by payment_id, merchant
    for update`.execute(transaction);

  // They were selected before the locks: this condition excludes those that another process has changed meanwhile, or that an
  // operator has held.
  const which = sql<boolean>`status = any(${statusesLeftBy("time")}::text[]) and due_at <= ${now}::timestamptz
    and ${isOneOf(toKeys("payment_id"))} and not ${isHeld(sql`payments.merchant`)}`;
  const { refunds } = await transitionRefunds(transaction, which, {
    to: "AUTHORIZED",
    at: now,
    failure: null,
  });
  return refunds;
}
