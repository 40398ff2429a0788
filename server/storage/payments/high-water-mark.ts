import { sql } from "kysely";
import type { Store } from "../database/tables.ts";
import type { PaymentKey } from "../statements/payment-record.ts";
import { statementsOf, storeOf } from "../statements/statements.ts";
import { getPayment } from "./payment-queries.ts";

/** What a database has held at a time. It loses none of it, because refunds and payouts are never removed. */
export type HighWaterMark = {
  /** The time of reading it, by the database's clock. */
  readonly at: Date;
  readonly refunds: readonly PaymentKey[];
  /** The position of the payout that was published last; 0 before the first one. */
  readonly position: number;
};

/** The newest refund and payout. */
export async function readHighWaterMark(store: Store): Promise<HighWaterMark> {
  const { rows } = await sql<{ at: Date; position: number | null }>`
    select clock_timestamp() as at, max(position) as position from payouts`.execute(store);
  // On a cluster, each part of the table has its own.
  const refunds = await statementsOf(store).findOverall(
    store,
    sql<PaymentKey>`
      select merchant, payment_id as "paymentId" from payments
      where payment_id >= 'rfd_' and payment_id < 'rfd\`' order by payment_id desc limit 1`,
  );
  const newest = refunds.toSorted((a, b) => (a.paymentId > b.paymentId ? -1 : 1)).slice(0, 1);
  const [{ at, position } = { at: new Date(0), position: null }] = rows;
  return { at, refunds: newest, position: position ?? 0 };
}

/** What the database lacks of a mark, as a text; undefined when it has all of it. */
export async function findMissing(
  store: Store,
  { refunds, position }: HighWaterMark,
): Promise<string | undefined> {
  for (const refund of refunds) {
    if (!(await getPayment(await storeOf(store, refund.merchant), refund)))
      return `the refund ${refund.paymentId} of ${refund.merchant}`;
  }
  if (position === 0) return undefined;
  const row = await store
    .selectFrom("payouts")
    .select("position")
    .where("position", "=", position)
    .executeTakeFirst();
  return row ? undefined : `the payout at ${position}`;
}

/**
 * Holds all refunds, because the database has lost what a mark says that it had. Only once after each restore: the marks of
 * other servers are older than the time at which the first of them noticed it.
 *
 * @returns whether this call was the first to notice
 */
export async function holdAfterRestore(
  store: Store,
  { at, missing }: { at: Date; missing: string },
): Promise<boolean> {
  return store.transaction().execute(async (transaction) => {
    const { rows } = await sql`
      insert into deployment as known (mode, restored_at) values ('production', clock_timestamp())
      on conflict (single_row) do update set restored_at = excluded.restored_at
        where known.restored_at is null or known.restored_at < ${at}::timestamptz
      returning 1`.execute(transaction);
    if (rows.length === 0) return false;
    await transaction
      .insertInto("holds")
      .values({ merchant: "", reason: `restored to an earlier state, without ${missing}` })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    return true;
  });
}
