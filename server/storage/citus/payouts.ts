import { sql } from "kysely";
import type { Db } from "../database/tables.ts";
import { isHeld } from "../payments/holds.ts";
import { isOneOf } from "../payments/payment-record.ts";
import { isAnyWaiting, LAST_POSITION, type Published, takeTurn } from "../payments/payouts.ts";
import { inOrder, type Machines } from "./machines.ts";

type OnShards = Machines["onShards"];

/** As `publishPayouts`: the feed lies on the coordinator and what waits for it on many machines, so the refunds pass through here. */
export async function publishOverall(
  coordinator: Db,
  onShards: OnShards,
  batchSize = 1_000,
): Promise<number> {
  let highest = 0;
  while ((await onShards(isAnyWaiting)).includes(true)) {
    const { position, taken } = await takeTurn(coordinator, (transaction) =>
      publishSome(transaction, onShards, batchSize),
    );
    highest = Math.max(highest, position);
    if (taken < batchSize) break;
  }
  return highest;
}

async function publishSome(transaction: Db, onShards: OnShards, limit: number): Promise<Published> {
  const pages = await onShards(async (shard) => {
    const query = sql<{ payment_id: string; merchant: string; authorized_at: Date }>`
      select payment_id, merchant, authorized_at from payouts_waiting w
      where not ${isHeld(sql`w.merchant`)} order by authorized_at, payment_id limit ${limit}::integer`;
    return (await query.execute(shard)).rows;
  });
  const keyOf = (row: { payment_id: string; authorized_at: Date }) =>
    `${row.authorized_at.toISOString()} ${row.payment_id}`;
  const waiting = inOrder(pages.flat(), keyOf).slice(0, limit);
  if (waiting.length === 0) return { position: 0, taken: 0 };
  const { rows } = await sql<{ position: number }>`
    insert into payouts (payment_id, merchant, authorized_at, position)
    select payment_id, merchant, authorized_at, number + ${LAST_POSITION}
    from unnest(
      ${waiting.map((row) => row.payment_id)}::text[],
      ${waiting.map((row) => row.merchant)}::text[],
      ${waiting.map((row) => row.authorized_at.toISOString())}::timestamptz[]
    ) with ordinality as waiting (payment_id, merchant, authorized_at, number)
    on conflict (payment_id, merchant) do nothing
    returning position`.execute(transaction);
  for (const [merchant, some] of Map.groupBy(waiting, (row) => row.merchant)) {
    const ids = some.map((row) => row.payment_id);
    await sql`delete from payouts_waiting where ${isOneOf(merchant, ids)}`.execute(transaction);
  }
  return { position: Math.max(0, ...rows.map(({ position }) => position)), taken: waiting.length };
}
