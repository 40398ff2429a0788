import { sql } from "kysely";
import type { Db } from "../database/db-types.ts";
import type { PaymentKey } from "./payment-record.ts";

/** What a database held at a time, and must hold forever, because refunds and payouts are never removed. */
export type HighWaterMark = {
  /** The time of reading it, by the database's clock. */
  readonly at: Date;
  readonly refunds: readonly PaymentKey[];
  /** The position of the payout that was published last; 0 before the first one. */
  readonly position: number;
};

/** The newest refund and payout. */
export async function readHighWaterMark(db: Db): Promise<HighWaterMark> {
  return { ...(await readLastPayout(db)), refunds: await findNewestRefund(db) };
}

/** The position of the newest payout, and the present time. */
export async function readLastPayout(db: Db): Promise<Pick<HighWaterMark, "at" | "position">> {
  const { rows } = await sql<Pick<HighWaterMark, "at" | "position">>`
    select clock_timestamp() as at, coalesce(max(position), 0) as position from payouts`.execute(db);
  return rows[0] ?? { at: new Date(0), position: 0 };
}

/** At most one. */
export async function findNewestRefund(db: Db): Promise<readonly PaymentKey[]> {
  const { rows } = await sql<PaymentKey>`
    select merchant, payment_id as "paymentId" from payments
    where payment_id >= 'rfd_' and payment_id < 'rfd\`' order by payment_id desc limit 1`.execute(db);
  return rows;
}

/** What the database lacks of a mark, as a text; undefined when it has all of it. */
export async function findMissing(db: Db, { refunds, position }: HighWaterMark): Promise<string | undefined> {
  for (const { merchant, paymentId } of refunds) {
    const { rows } = await sql`
      select from payments where payment_id = ${paymentId} and merchant = ${merchant}`.execute(db);
    if (rows.length === 0) return `the refund ${paymentId} of ${merchant}`;
  }
  if (position === 0) return undefined;
  const { rows } = await sql`select from payouts where position = ${position}`.execute(db);
  return rows.length === 0 ? `the payout at ${position}` : undefined;
}

/**
 * Holds all refunds, because the database has lost what a mark says that it had. Only once after each restore: the marks of
 * other servers are older than the time at which the first of them noticed it.
 * @returns whether this call was the first to notice
 */
export async function holdAfterRestore(db: Db, { at, missing }: { at: Date; missing: string }) {
  const { rows } = await sql<{ first: boolean }>`
    select note_restore(${at}::timestamptz, ${missing}::text) as first`.execute(db);
  return rows[0]?.first === true;
}
