import { type RawBuilder, sql } from "kysely";
import { refundEvent } from "../../domain/events.ts";
import type { RefundFailure, RefundStatus } from "../../domain/refunds.ts";
import type { TraceContext } from "../../domain/trace-context.ts";
import type { HistoryEntry, Store } from "../database/tables.ts";
import { insertEvents, statementsOf } from "../statements/statements.ts";
import { awaitPayout } from "./payouts.ts";

/**
 * How many refunds to change by one statement. Each has an event, with a delivery for each of up to 100 subscriptions (D26), so a statement
 * without a limit could reach every timeout.
 */
export const REFUNDS_AT_ONCE = 200;

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
  original_payment_id: string;
  amount_cents: number;
  request_key: string;
  sequence: number;
};

/** A refund whose status has changed. */
export type ChangedRefund = {
  readonly paymentId: string;
  readonly merchant: string;
  /** Of the call that issued it (D33). */
  readonly trace: TraceContext | undefined;
};

/**
 * Changes the status of the refunds that a condition on `payments` selects, with their history and one event for each. The
 * transaction must hold the locks of their original payments (D12a), and the condition must name one merchant, no more than
 * `REFUNDS_AT_ONCE`, and only those whose status has such a transition.
 *
 * @returns the refunds that changed
 */
export async function transitionRefunds(
  transaction: Store,
  which: RawBuilder<boolean>,
  change: RefundChange,
): Promise<ChangedRefund[]> {
  const { to, at, failure } = change;
  const entry: HistoryEntry = { status: to, at: at.toISOString() };
  // Only if there is one: the role of a server may authorize refunds, and has no right to make them fail.
  const reason = failure
    ? sql`error_code = ${failure.errorCode}, error_message = ${failure.errorMessage},`
    : sql``;
  const { rows } = await sql<ChangedRow>`
    update payments
    set status = ${to}, ${reason}
      history = history || ${JSON.stringify(entry)}::jsonb, sequence = sequence + 1
    where kind = 'REFUND' and ${which}
    returning payment_id, merchant, original_payment_id, amount_cents, sequence,
      ${statementsOf(transaction).returnedTextColumns}`.execute(transaction);

  const traces = await readTraces(transaction, rows);
  const refunds = rows.map(({ payment_id: paymentId, merchant }) => {
    return { paymentId, merchant, trace: traces.get(paymentId) };
  });
  if (to === "AUTHORIZED") await awaitPayout(transaction, refunds, at);
  await insertEvents(
    transaction,
    rows.map((row) => ({ ...toEvent(row, change), trace: traces.get(row.payment_id) })),
  );
  return refunds;
}

/**
 * The traces that are kept with the first events of refunds of one merchant. `limit` stops PostgreSQL from a plan that reads all
 * events, which it would make while there are few, and keep.
 */
async function readTraces(
  transaction: Store,
  refunds: readonly ChangedRow[],
): Promise<ReadonlyMap<string, TraceContext>> {
  const [first] = refunds;
  if (!first) return new Map();
  const { rows } = await sql<{ payment_id: string; trace: TraceContext }>`
    select wanted.payment_id, event.trace from unnest(${refunds.map((row) => row.payment_id)}::text[]) as wanted (payment_id)
    cross join lateral (
      select trace from events
      where resource_id = wanted.payment_id and merchant = ${first.merchant} and split_part(type, '.', 1) = 'refund'
        and sequence = 1 and trace is not null
      limit 1
    ) as event`.execute(transaction);
  return new Map(rows.map(({ payment_id, trace }) => [payment_id, trace]));
}

/** Divides a list into parts of at most this size. */
export function toParts<Item>(items: readonly Item[], size: number): Item[][] {
  const count = Math.ceil(items.length / size);
  return Array.from({ length: count }, (_, part) => items.slice(part * size, (part + 1) * size));
}

function toEvent(row: ChangedRow, { to, at, failure }: RefundChange) {
  const { payment_id: paymentId, merchant, sequence } = row;
  const facts = {
    paymentId,
    status: to,
    clientReferenceId: row.client_reference_id,
    originalPaymentId: row.original_payment_id,
    amountCents: row.amount_cents,
    requestKey: row.request_key,
    failure,
  };
  return {
    ...refundEvent(facts, { at, sequence }),
    merchant,
    resourceId: paymentId,
    sequence,
    occurredAt: at,
  };
}
