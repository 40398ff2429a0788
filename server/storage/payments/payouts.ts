import { sql } from "kysely";
import { ADVISORY_LOCKS } from "../database/advisory-locks.ts";
import type { Store } from "../database/tables.ts";
import { exactTexts, type PaymentKey } from "../statements/payment-record.ts";
import { MICROSECONDS, type Published } from "../statements/payouts.ts";
import { statementsOf } from "../statements/statements.ts";

/** An authorized refund, as the payment system reads it. Amount in cents. */
export type Payout = PaymentKey & {
  /** Grows along the feed. The cursor of the last payout that was read is where the next page begins. */
  readonly cursor: number;
  readonly requestKey: string;
  readonly originalPaymentId: string;
  readonly amountCents: number;
  readonly clientReferenceId: string | null;
  readonly softDescriptor: string | null;
  /** The domain's time (D30). */
  readonly authorizedAt: Date;
};

/** Notes that refunds have been authorized, in the transaction that does so; `publishPayouts` puts them into the feed. */
export async function awaitPayout(
  transaction: Store,
  refunds: readonly PaymentKey[],
  authorizedAt: Date,
): Promise<void> {
  if (refunds.length === 0) return;
  await sql`
    insert into payouts_waiting (payment_id, merchant, authorized_at)
    select payment_id, merchant, ${authorizedAt}::timestamptz from unnest(
      ${refunds.map(({ paymentId }) => paymentId)}::text[], ${refunds.map(({ merchant }) => merchant)}::text[]
    ) as refund (payment_id, merchant)`.execute(transaction);
}

const BATCH_SIZE = 1_000;

/**
 * Puts the refunds that wait for it and are not held into the payout feed, each once, however many servers try.
 *
 * A position that a refund took when it was authorized could become visible after a higher one, and a reader's cursor would have
 * passed it. So positions are given here, one transaction after the other, to refunds whose authorization is committed: whoever
 * sees a position sees all lower ones. They follow the database's clock, so that also in a restored database, which has forgotten
 * some, the next one is higher than all that a reader may have seen.
 *
 * @returns the highest position that it has given; 0 for none
 */
export async function publishPayouts(store: Store, batchSize = BATCH_SIZE): Promise<number> {
  let highest = 0;
  for (;;) {
    if (!(await isAnyWaiting(store))) return highest;
    const { position, taken } = await store
      .transaction()
      .execute((transaction) => publishSome(transaction, batchSize));
    highest = Math.max(highest, position);
    if (taken < batchSize) return highest;
  }
}

async function isAnyWaiting(store: Store): Promise<boolean> {
  const waiting = await statementsOf(store).findOverall(
    store,
    sql`select payment_id from payouts_waiting limit 1`,
  );
  return waiting.length > 0;
}

async function publishSome(transaction: Store, limit: number): Promise<Published> {
  // By a statement of its own, so that the next one sees what the previous holder of the lock has published.
  const { rows: locks } = await sql<{ locked: boolean }>`
    select pg_try_advisory_xact_lock(${ADVISORY_LOCKS.payouts}::integer, 0) as locked`.execute(transaction);
  if (!locks[0]?.locked) return { position: 0, taken: 0 }; // another server is at it
  return statementsOf(transaction).publishWaiting(transaction, limit);
}

/**
 * The payouts after a cursor, in the order of the feed.
 *
 * @param page.after the cursor of the last payout that was read; 0 begins the feed
 * @returns "unknown-cursor" when the cursor lies after all that the database has published or could publish now
 */
export async function listPayouts(
  store: Store,
  { after, limit }: { after: number; limit: number },
): Promise<readonly Payout[] | "unknown-cursor"> {
  const rows = await store
    .selectFrom("payout_feed")
    .selectAll()
    .select(exactTexts)
    .where("position", ">", after)
    .orderBy("position")
    .limit(limit)
    .execute();
  if (rows.length === 0 && (await isAhead(store, after))) return "unknown-cursor";
  return rows.map(({ payment_id, ...row }) => ({
    cursor: row.position,
    merchant: row.merchant,
    paymentId: payment_id,
    requestKey: row.request_key,
    originalPaymentId: row.original_payment_id,
    amountCents: row.amount_cents,
    clientReferenceId: row.client_reference_id,
    softDescriptor: row.soft_descriptor,
    authorizedAt: row.authorized_at,
  }));
}

/** A cursor that no payout has reached: mistyped, or of a database whose clock was ahead of this one's. */
async function isAhead(store: Store, cursor: number): Promise<boolean> {
  const { rows } = await sql<{ ahead: boolean }>`
    select ${cursor}::bigint > greatest((select max(position) from payout_feed), ${MICROSECONDS}) as ahead`.execute(
    store,
  );
  return rows[0]?.ahead === true;
}
