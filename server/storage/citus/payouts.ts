import { sql } from "kysely";
import type { Store } from "../database/tables.ts";
import { isHeld } from "../statements/holds.ts";
import { LAST_POSITION, type Published } from "../statements/payouts.ts";
import { statementsOf } from "../statements/statements.ts";
import { groupByMerchant } from "./batches.ts";
import { isOneOf } from "./refunds.ts";

type WaitingRow = { payment_id: string; merchant: string; authorized_at: string };

/** The feed lies on one machine and what waits for it on many, so the refunds pass through here. */
export async function publishWaiting(transaction: Store, limit: number): Promise<Published> {
  const waiting = await statementsOf(transaction).findOverall(
    transaction,
    sql<WaitingRow>`
      select payment_id, merchant, to_char(authorized_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as authorized_at
      from payouts_waiting w
      where not ${isHeld(sql`w.merchant`)}
      order by w.authorized_at, payment_id limit ${limit}::integer`,
  );
  const rows = waiting.toSorted(inOrder).slice(0, limit);
  if (rows.length === 0) return { position: 0, taken: 0 };
  const published = await sql<{ position: number }>`
    insert into payouts (payment_id, merchant, authorized_at, position)
    select payment_id, merchant, authorized_at, number + ${LAST_POSITION}
    from unnest(
      ${rows.map((row) => row.payment_id)}::text[],
      ${rows.map((row) => row.merchant)}::text[],
      ${rows.map((row) => row.authorized_at)}::timestamptz[]
    ) with ordinality as waiting (payment_id, merchant, authorized_at, number)
    on conflict (payment_id, merchant) do nothing
    returning position`.execute(transaction);
  const keys = rows.map(({ payment_id: paymentId, merchant }) => ({ paymentId, merchant }));
  for (const batch of groupByMerchant(keys)) {
    await sql`delete from payouts_waiting where ${isOneOf(batch)}`.execute(transaction);
  }
  const positions = published.rows.map(({ position }) => position);
  return { position: Math.max(0, ...positions), taken: rows.length };
}

function inOrder(a: WaitingRow, b: WaitingRow): number {
  if (a.authorized_at !== b.authorized_at) return a.authorized_at < b.authorized_at ? -1 : 1;
  return a.payment_id < b.payment_id ? -1 : 1;
}
