import { sql } from "kysely";
import type { Db } from "./database/tables.ts";
import { isHeld } from "./payments/holds.ts";

/** A refund or delivery that waits for a domain time (D30). */
export type DueRecord = {
  readonly kind: "REFUND" | "DELIVERY";
  readonly id: string;
  readonly at: Date;
};

export type DueRecords = {
  /** The earliest first. */
  readonly items: readonly DueRecord[];
  /** How many refunds and deliveries are due by the time of the earliest. */
  readonly refunds: number;
  readonly deliveries: number;
};

/** The records of a merchant that wait for a time; held refunds wait for an operator. */
export async function listDue(
  db: Db,
  { merchant, limit }: { merchant: string; limit: number },
): Promise<DueRecords> {
  const held = isHeld(sql`${merchant}::text`);
  const { rows: items } = await sql<DueRecord>`
    (select 'REFUND' as kind, payment_id as id, due_at as at from payments
      where merchant = ${merchant} and kind = 'REFUND' and status = 'PENDING' and due_at is not null
        and not ${held}
      order by due_at, payment_id limit ${limit})
    union all
    (select 'DELIVERY', webhook_id, due_at from deliveries
      where merchant = ${merchant} and state = 'PENDING' and due_at is not null
      order by due_at, webhook_id limit ${limit})
    order by 3, 2 limit ${limit}`.execute(db);
  const [first] = items;
  if (!first) return { items, refunds: 0, deliveries: 0 };
  return { items, ...(await countDue(db, { merchant, until: first.at })) };
}

/** How many refunds and deliveries of a merchant are due by a time of the domain (D30); held refunds are not. */
export async function countDue(
  db: Db,
  { merchant, until }: { merchant: string; until: Date },
): Promise<Pick<DueRecords, "refunds" | "deliveries">> {
  const { rows } = await sql<Pick<DueRecords, "refunds" | "deliveries">>`
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
