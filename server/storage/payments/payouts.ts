import { sql } from "kysely";
import { ADVISORY_LOCKS } from "../database/advisory-locks.ts";
import type { Db } from "../database/tables.ts";
import { isHeld } from "./holds.ts";
import type { PaymentKey } from "./payment-record.ts";

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

/** Notes that refunds of a merchant have been authorized, in the transaction that does so; `publishPayouts` puts them into the feed. */
export async function awaitPayout(
  transaction: Db,
  { merchant, paymentIds, authorizedAt }: { merchant: string; paymentIds: string[]; authorizedAt: Date },
): Promise<void> {
  await sql`
    insert into payouts_waiting (payment_id, merchant, authorized_at)
    select payment_id, ${merchant}, ${authorizedAt}::timestamptz
    from unnest(${paymentIds}::text[]) as refund (payment_id)`.execute(transaction);
}

/** The database's clock, in microseconds since 1970. */
const MICROSECONDS = sql`floor(extract(epoch from clock_timestamp()) * 1000000)::bigint`;

/** Before all positions that can be given now, and after all that have been. */
export const LAST_POSITION = sql`(select greatest(max(position), ${MICROSECONDS}) from payouts)`;

const BATCH_SIZE = 1_000;

/**
 * Puts the refunds that wait for it and are not held into the payout feed, each once, however many servers try.
 *
 * A position that a refund took when it was authorized could become visible after a higher one, and a reader's cursor would have
 * passed it. So positions are given here, one transaction after the other, to refunds whose authorization is committed: a reader
 * who sees a position sees all lower ones. They follow the database's clock, so that also in a restored database, which has
 * forgotten some, the next one is higher than all that a reader may have seen.
 *
 * @returns the highest position that it has given; 0 for none
 */
export async function publishPayouts(db: Db, batchSize = BATCH_SIZE): Promise<number> {
  let highest = 0;
  while (await isAnyWaiting(db)) {
    const { position, taken } = await takeTurn(db, (transaction) => publishSome(transaction, batchSize));
    highest = Math.max(highest, position);
    if (taken < batchSize) break;
  }
  return highest;
}

/** Whether any authorized refund is not in the feed yet. */
export async function isAnyWaiting(db: Db): Promise<boolean> {
  const { rows } = await sql`select payment_id from payouts_waiting limit 1`.execute(db);
  return rows.length > 0;
}

/** What one transaction has put into the feed. */
export type Published = {
  /** The highest position that it has given; 0 for none. */
  readonly position: number;
  /** How many refunds have left the table of those that wait. */
  readonly taken: number;
};

/** Runs the transaction of a server whose turn it is; others do nothing. */
export async function takeTurn(db: Db, publish: (transaction: Db) => Promise<Published>): Promise<Published> {
  return db.transaction().execute(async (transaction) => {
    // By a statement of its own, so that the next one sees what the previous holder of the lock has published.
    const { rows } = await sql<{ locked: boolean }>`
      select pg_try_advisory_xact_lock(${ADVISORY_LOCKS.payouts}::integer, 0) as locked`.execute(transaction);
    return rows[0]?.locked ? publish(transaction) : { position: 0, taken: 0 };
  });
}

/** Oldest first. */
async function publishSome(transaction: Db, limit: number): Promise<Published> {
  const { rows } = await sql<Published>`
    with taken as (
      delete from payouts_waiting where ctid = any(array(
        select ctid from payouts_waiting as w
        where not ${isHeld(sql`w.merchant`)}
        order by authorized_at, payment_id limit ${limit}))
      returning payment_id, merchant, authorized_at
    ), published as (
      insert into payouts (payment_id, merchant, authorized_at, position)
      select payment_id, merchant, authorized_at,
        row_number() over (order by authorized_at, payment_id) + ${LAST_POSITION}
      from taken
      on conflict (payment_id, merchant) do nothing
      returning position
    )
    select (select count(*)::integer from taken) as taken,
      (select coalesce(max(position), 0) from published) as position`.execute(transaction);
  return rows[0] ?? { position: 0, taken: 0 };
}

/**
 * The payouts after a cursor, in the order of the feed.
 *
 * @param page.after the cursor of the last payout that was read; 0 begins the feed
 * @returns "unknown-cursor" when the cursor lies after all that the database has published or could publish now
 */
export async function listPayouts(
  db: Db,
  { after, limit }: { after: number; limit: number },
): Promise<readonly Payout[] | "unknown-cursor"> {
  const { rows } = await sql<Payout>`
    select position as cursor, merchant, payment_id as "paymentId", original_payment_id as "originalPaymentId",
      amount_cents as "amountCents", soft_descriptor as "softDescriptor", authorized_at as "authorizedAt",
      to_jsonb(client_reference_id) as "clientReferenceId", to_jsonb(request_key) as "requestKey"
    from payout_feed where position > ${after} order by position limit ${limit}`.execute(db);
  if (rows.length === 0 && (await isAhead(db, after))) return "unknown-cursor";
  return rows;
}

/** A cursor that no payout has reached: mistyped, or of a database whose clock was ahead of this one's. */
async function isAhead(db: Db, cursor: number): Promise<boolean> {
  const { rows } = await sql<{ ahead: boolean }>`
    select ${cursor}::bigint > greatest((select max(position) from payout_feed), ${MICROSECONDS}) as ahead`.execute(
    db,
  );
  return rows[0]?.ahead === true;
}
