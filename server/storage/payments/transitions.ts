import { type RawBuilder, sql } from "kysely";
import { refundEvent } from "../../domain/events.ts";
import type { RefundFailure, RefundStatus } from "../../domain/refunds.ts";
import type { TraceContext } from "../../domain/trace-context.ts";
import type { Db, HistoryEntry } from "../database/tables.ts";
import { insertEvents } from "../webhooks/events.ts";
import { exactTexts, isOneOf } from "./payment-record.ts";
import { awaitPayout } from "./payouts.ts";

/**
 * How many refunds to change by one statement. Each has an event, with a delivery for each of up to 100 subscriptions (D26), so
 * a statement without a limit could reach every timeout.
 */
export const REFUNDS_AT_ONCE = 200;

/** The status that refunds take, when they take it, and why. */
export type RefundChange = {
  readonly to: RefundStatus;
  readonly at: Date;
  readonly failure: RefundFailure | null;
};

/** A refund whose status has changed. */
export type ChangedRefund = {
  readonly paymentId: string;
  readonly merchant: string;
  /** Of the call that issued it (D33). */
  readonly trace: TraceContext | undefined;
};

/**
 * Changes the status of the refunds of a merchant that a condition on `payments` selects, with their history and one event for
 * each. The transaction must hold the locks of their original payments (D12a), and the condition must select no more than
 * `REFUNDS_AT_ONCE`, and only those whose status has such a transition.
 *
 * @returns the refunds that changed
 */
export async function transitionRefunds(
  transaction: Db,
  merchant: string,
  { which, to, at, failure }: RefundChange & { readonly which: RawBuilder<boolean> },
): Promise<ChangedRefund[]> {
  const entry: HistoryEntry = { status: to, at: at.toISOString() };
  // Only if there is one: the role of a server may authorize refunds, and has no right to make them fail.
  const reason = failure
    ? sql`error_code = ${failure.errorCode}, error_message = ${failure.errorMessage},`
    : sql``;
  const { rows: changed } = await sql<{ payment_id: string }>`
    update payments
    set status = ${to}, ${reason}
      history = history || ${JSON.stringify(entry)}::jsonb, sequence = sequence + 1
    where kind = 'REFUND' and merchant = ${merchant} and ${which}
    returning payment_id`.execute(transaction);
  if (changed.length === 0) return [];
  const paymentIds = changed.map((row) => row.payment_id);
  if (to === "AUTHORIZED") await awaitPayout(transaction, { merchant, paymentIds, authorizedAt: at });

  // The first event has the trace of the call. `limit` stops PostgreSQL from a plan that reads all events, which it would make
  // while there are few, and keep.
  const { rows } = await sql<RefundFacts>`
    select payment_id as "paymentId", original_payment_id as "originalPaymentId", amount_cents as "amountCents", sequence,
      ${sql.join(exactTexts)}, event.trace
    from payments left join lateral (
      select trace from events
      where resource_id = payments.payment_id and merchant = ${merchant} and split_part(type, '.', 1) = 'refund'
        and sequence = 1 and trace is not null
      limit 1
    ) as event on true
    where ${isOneOf(merchant, paymentIds)}`.execute(transaction);
  const events = rows.map(({ client_reference_id, request_key, sequence, trace, ...facts }) => {
    const refund = { ...facts, clientReferenceId: client_reference_id, requestKey: request_key };
    const event = refundEvent({ ...refund, status: to, failure }, { at, sequence });
    return { ...event, resourceId: facts.paymentId, sequence, occurredAt: at, trace: trace ?? undefined };
  });
  await insertEvents(transaction, merchant, events);
  return events.map(({ resourceId: paymentId, trace }) => ({ paymentId, merchant, trace }));
}

type RefundFacts = {
  paymentId: string;
  originalPaymentId: string;
  amountCents: number;
  sequence: number;
  client_reference_id: string | null;
  request_key: string;
  trace: TraceContext | null;
};

/** Divides a list into parts of at most this size. */
export function toParts<Item>(items: readonly Item[], size: number): Item[][] {
  const count = Math.ceil(items.length / size);
  return Array.from({ length: count }, (_, part) => items.slice(part * size, (part + 1) * size));
}
