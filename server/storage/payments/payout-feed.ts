import { sql } from "kysely";
import type { Db } from "../database/db-types.ts";
import type { PaymentKey } from "./payment-record.ts";

/**
 * Puts refunds that wait for it and are not held into the payout feed, each once, however many servers try. The feed
 * shows a position once every server has come back with it as `known`. `publish_payouts` is in `payout-and-audit-tables.ts`.
 *
 * A position that a refund took when it was authorized could become visible after a higher one, and a reader's cursor would have
 * passed it. So positions are given here, one transaction after the other, to refunds whose authorization is committed: a reader
 * who sees a position sees all lower ones. They follow the database's clock, so that also in a restored database, which has
 * forgotten some, the next one is higher than all that a reader may have seen.
 */
export async function publishPayouts(db: Db, { server, known }: Publisher): Promise<Published> {
  const { rows } = await sql<Published>`
    select lost, last from publish_payouts(${server}::uuid, ${known}::bigint, ${PUBLISHED_AT_ONCE}::integer)`.execute(
    db,
  );
  if (!rows[0]) throw new Error("the statement returned no row");
  return rows[0];
}

/** How many a run publishes at most. */
export const PUBLISHED_AT_ONCE = 1_000;

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
    from unnest(${paymentIds}::text[]) as refund (payment_id) on conflict do nothing`.execute(transaction);
}

/** The database's clock, in microseconds since 1970. */
const MICROSECONDS = sql`floor(extract(epoch from clock_timestamp()) * 1000000)::bigint`;

/** New positions are higher than this: the last position, or the present time if that is higher. */
export const LAST_POSITION = sql`(select greatest(max(position), ${MICROSECONDS}) from payouts)`;

/** The server that publishes, as the feed knows it, and the last position that it has noted; 0 for none. */
export type Publisher = { readonly server: string; readonly known: number };

/** What a run has left: the last position of all; or what the database lacks, and then nothing was published. */
export type Published = { readonly lost: string } | { readonly lost: null; readonly last: number };

/** A server that stops, for which the feed then no longer waits. */
export async function leaveFeed(db: Db, server: string): Promise<void> {
  await sql`select leave_feed(${server}::uuid)`.execute(db);
}

/**
 * The payouts after a cursor, in the order of the feed.
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
