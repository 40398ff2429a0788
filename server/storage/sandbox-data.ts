import { sql } from "kysely";
import type { OriginalStatus, RefundFailure } from "../domain/refund-rules.ts";
import type { Db, HistoryEntry } from "./database/db-types.ts";

/** A payment record with which a sandbox begins. Amounts in cents. */
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

/** Stores missing fixtures, without events, because nothing has happened to them. `now` is domain time (D30). */
export async function insertFixtures(db: Db, fixtures: readonly Fixture[], now: Date): Promise<void> {
  await db
    .insertInto("payments")
    .values(fixtures.map((fixture) => toRow(fixture, now)))
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

function toRow(fixture: Fixture, now: Date) {
  const isDebit = fixture.kind === "DEBIT";
  const status = isDebit ? fixture.status : "TERMINAL_FAILED";
  const history: HistoryEntry[] = [{ status, at: now.toISOString() }];
  const { paymentId: payment_id, merchant, kind, amountCents: amount_cents } = fixture;
  return {
    ...{ payment_id, merchant, kind, status, amount_cents, sequence: 0, created_at: now },
    request_key: fixture.requestKey ?? null,
    client_reference_id: fixture.clientReferenceId ?? null,
    original_payment_id: isDebit ? null : fixture.originalPaymentId,
    settled_at: isDebit ? fixture.settledAt : null,
    error_code: isDebit ? null : fixture.failure.errorCode,
    error_message: isDebit ? null : fixture.failure.errorMessage,
    history: JSON.stringify(history),
  };
}

/**
 * Resets a merchant of a sandbox: replaces its payments, refunds, events, deliveries and subscriptions by the fixtures, in
 * one transaction. Its access tokens stay, so that the caller does not lock itself out, and the clock keeps its time.
 * @param now the domain's time (D30)
 */
export async function resetMerchant(
  db: Db,
  { merchant, fixtures, now }: { merchant: string; fixtures: readonly Fixture[]; now: Date },
): Promise<void> {
  await db.transaction().execute(async (transaction) => {
    // Other writers must wait: a refund issued meanwhile would refer to a deleted payment, a delivery to a deleted event. There
    // is no deadlock, because every transaction that writes several of these tables begins with the first of them.
    await sql`lock table payments, events, deliveries in exclusive mode`.execute(transaction);
    for (const table of ["payouts_waiting", "payouts", "deliveries", "events", "subscriptions"])
      await sql`delete from ${sql.table(table)} where merchant = ${merchant}`.execute(transaction);
    await sql`delete from payments where merchant = ${merchant} and sequence >= 0`.execute(transaction); // by the index for the newest
    if (fixtures.length > 0) await insertFixtures(transaction, fixtures, now);
  });
}

/** The merchant of an access token, and its scopes (D18). */
export type TokenGrant = { readonly merchant: string; readonly scopes: readonly string[] };

/** Finds the grant of an access token by its SHA-256; the token itself is never stored. */
export async function findToken(db: Db, tokenSha256: Uint8Array): Promise<TokenGrant | undefined> {
  const { rows } = await sql<TokenGrant>`
    select merchant, scopes from access_tokens where token_sha256 = ${tokenSha256}`.execute(db);
  return rows[0];
}

/** Stores an access token. If it is stored already, its grant does not change. */
export async function insertToken(
  db: Db,
  { tokenSha256, merchant, scopes }: TokenGrant & { readonly tokenSha256: Uint8Array },
): Promise<void> {
  await sql`
    insert into access_tokens (token_sha256, merchant, scopes)
    values (${tokenSha256}, ${merchant}, ${[...scopes]}::text[])
    on conflict (token_sha256) do nothing`.execute(db);
}
