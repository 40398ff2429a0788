import type { Insertable } from "kysely";
import type { OriginalStatus, RefundFailure } from "../domain/refunds.ts";
import type { HistoryEntry, PaymentsTable, Store } from "./tables.ts";

/** A payment record that a fresh sandbox begins with. Amounts in cents. */
export type Fixture = {
  readonly paymentId: string;
  readonly merchant: string;
  readonly amountCents: number;
  readonly requestKey?: string;
  readonly clientReferenceId?: string;
} & (
  | { readonly kind: "DEBIT"; readonly status: OriginalStatus; readonly settledAt: Date | null }
  | { readonly kind: "REFUND"; readonly originalPaymentId: string; readonly failure: RefundFailure }
);

/** Stores what is not there yet, without events: nothing has happened. `now` is the domain's time (D30). */
export async function insertFixtures(store: Store, fixtures: readonly Fixture[], now: Date): Promise<void> {
  await store
    .insertInto("payments")
    .values(fixtures.map((fixture) => toRow(fixture, now)))
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

function toRow(fixture: Fixture, now: Date): Insertable<PaymentsTable> {
  const isDebit = fixture.kind === "DEBIT";
  const status = isDebit ? fixture.status : "TERMINAL_FAILED";
  const history: HistoryEntry[] = [{ status, at: now.toISOString() }];
  return {
    payment_id: fixture.paymentId,
    merchant: fixture.merchant,
    kind: fixture.kind,
    status,
    amount_cents: fixture.amountCents,
    request_key: fixture.requestKey ?? null,
    client_reference_id: fixture.clientReferenceId ?? null,
    original_payment_id: isDebit ? null : fixture.originalPaymentId,
    settled_at: isDebit ? fixture.settledAt : null,
    error_code: isDebit ? null : fixture.failure.errorCode,
    error_message: isDebit ? null : fixture.failure.errorMessage,
    history: JSON.stringify(history),
    sequence: isDebit ? 0 : 1,
    created_at: now,
  };
}
