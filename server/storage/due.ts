import { sql } from "kysely";
import { statusesMovedBy } from "../domain/refunds.ts";
import { moveRefunds } from "./refund-moves.ts";
import type { Store } from "./tables.ts";

const BATCH_SIZE = 1_000;

type DueRefund = { payment_id: string; merchant: string; original_payment_id: string };

/**
 * Authorises every refund that is due, in batches of one transaction each, until none is left. Run by several processes
 * at once it still moves each refund once: one waits for the locks of the other, and then finds its work done.
 *
 * @param now the domain's time (D30)
 * @param batchSize how many refunds one transaction moves at most
 * @returns how many refunds this call moved
 */
export async function authorizeDue(store: Store, now: Date, batchSize = BATCH_SIZE): Promise<number> {
  let moved = 0;
  for (;;) {
    const due = await findDue(store, now, batchSize);
    if (due.length === 0) return moved;
    moved += await store.transaction().execute((transaction) => authorize(transaction, due, now));
  }
}

async function findDue(store: Store, now: Date, limit: number): Promise<DueRefund[]> {
  const { rows } = await sql<DueRefund>`
    select payment_id, merchant, original_payment_id from payments
    where kind = 'REFUND' and status = 'PENDING' and due_at <= ${now}::timestamptz
    order by due_at
    limit ${limit}`.execute(store);
  return rows;
}

async function authorize(transaction: Store, due: readonly DueRefund[], now: Date): Promise<number> {
  const merchants = due.map((refund) => refund.merchant);
  const originals = due.map((refund) => refund.original_payment_id);
  const refunds = due.map((refund) => refund.payment_id);

  // D12a. In one order everywhere, so that two processes with overlapping batches can't wait for each other.
  await sql`
    select from payments
    where (payment_id, merchant) in (select * from unnest(${originals}::text[], ${merchants}::text[]))
    order by payment_id, merchant
    for update`.execute(transaction);

  // The choice was made before the locks: what another process has moved or failed meanwhile drops out here.
  const which = sql<boolean>`status = any(${statusesMovedBy("time")}::text[]) and due_at <= ${now}::timestamptz
    and (payment_id, merchant) in (select * from unnest(${refunds}::text[], ${merchants}::text[]))`;
  const { count } = await moveRefunds(transaction, which, { to: "AUTHORIZED", at: now, failure: null });
  return count;
}
