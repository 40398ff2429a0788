import { sql } from "kysely";
import type { Db } from "./database/tables.ts";
import { isHeld } from "./payments/holds.ts";

/** How many refunds and deliveries are due. */
type DueCount = { readonly refunds: number; readonly deliveries: number };

/** The earliest time at which records of a merchant are due, and how many are; held refunds wait for an operator. */
export async function findNextDue(
  db: Db,
  { merchant }: { merchant: string },
): Promise<(DueCount & { readonly at: Date }) | undefined> {
  const { rows } = await sql<{ at: Date | null }>`
    select least(
      (select min(due_at) from payments
        where merchant = ${merchant} and kind = 'REFUND' and status = 'PENDING' and not ${isHeld(sql`${merchant}::text`)}),
      (select min(due_at) from deliveries where merchant = ${merchant} and state = 'PENDING')) as at`.execute(
    db,
  );
  const at = rows[0]?.at;
  return at ? { at, ...(await countDue(db, { merchant, until: at })) } : undefined;
}

/** How many refunds and deliveries of a merchant are due by a time of the domain (D30); held refunds are not. */
export async function countDue(
  db: Db,
  { merchant, until }: { merchant: string; until: Date },
): Promise<DueCount> {
  const { rows } = await sql<DueCount>`
    select
      (select count(*)::integer from payments
        where merchant = ${merchant} and kind = 'REFUND' and status = 'PENDING' and due_at <= ${until}::timestamptz
          and not ${isHeld(sql`${merchant}::text`)}) as refunds,
      (select count(*)::integer from deliveries
        where merchant = ${merchant} and state = 'PENDING' and due_at <= ${until}::timestamptz) as deliveries`.execute(
    db,
  );
  return rows[0] ?? { refunds: 0, deliveries: 0 };
}
