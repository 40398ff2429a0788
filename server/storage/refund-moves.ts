import { type RawBuilder, sql } from "kysely";
import { refundEvent, toRefundView } from "../domain/events.ts";
import type { RefundFailure, RefundStatus } from "../domain/refunds.ts";
import { insertEvents } from "./events.ts";
import { exactReference } from "./exact-text.ts";
import type { HistoryEntry, Store } from "./tables.ts";

/** What becomes of the refunds that a trigger moves. */
export type RefundOutcome = {
  readonly to: RefundStatus;
  readonly at: Date;
  readonly failure: RefundFailure | null;
};

type MovedRow = {
  payment_id: string;
  merchant: string;
  client_reference_id: string | null;
  amount_cents: number;
  sequence: number;
};

/**
 * Moves the refunds that a condition on `payments` chooses, with their history and one event for each. The transaction
 * must hold the locks of their original payments (D12a), and the condition must name the statuses that can be left.
 *
 * @returns how many moved, and their amounts together, in cents
 */
export async function moveRefunds(
  transaction: Store,
  which: RawBuilder<boolean>,
  outcome: RefundOutcome,
): Promise<{ count: number; amountCents: number }> {
  const { to, at, failure } = outcome;
  const entry: HistoryEntry = { status: to, at: at.toISOString() };
  const { rows } = await sql<MovedRow>`
    update payments
    set status = ${to}, error_code = ${failure?.errorCode ?? null}, error_message = ${failure?.errorMessage ?? null},
      history = history || ${JSON.stringify(entry)}::jsonb, sequence = sequence + 1
    where kind = 'REFUND' and ${which}
    returning payment_id, merchant, ${exactReference}, amount_cents, sequence`.execute(transaction);

  await insertEvents(
    transaction,
    rows.map((row) => toEvent(row, outcome)),
  );
  return { count: rows.length, amountCents: rows.reduce((sum, row) => sum + row.amount_cents, 0) };
}

function toEvent(row: MovedRow, { to, at, failure }: RefundOutcome) {
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
