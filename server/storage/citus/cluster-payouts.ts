import { sql } from "kysely";
import type { Db } from "../database/db-types.ts";
import { readLastPayout } from "../payments/high-water-mark.ts";
import { isHeld } from "../payments/holds.ts";
import { isOneOf } from "../payments/payment-record.ts";
import { LAST_POSITION, type Published, type Publisher } from "../payments/payout-feed.ts";
import { firstOf, type Machines } from "./cluster-machines.ts";

/** Like `publishPayouts`, for a cluster: takes what waits for the feed from all machines, and adds it to the feed on the coordinator. */
export function publishOverall(
  coordinator: Db,
  onShards: Machines["onShards"],
  { server, known, atMost = 1_000 }: Publisher & { readonly atMost?: number },
): Promise<Published> {
  const select = sql<Waiting>`
    select payment_id, merchant, authorized_at from payouts_waiting w
    where not ${isHeld(sql`w.merchant`)} order by authorized_at, payment_id limit ${atMost}::integer`;
  const keyOf = (row: Waiting) => `${row.authorized_at.toISOString()} ${row.payment_id}`;
  return coordinator.transaction().execute(async (transaction) => {
    const { rows } = await sql<{ lost: string | null }>`
      select take_feed(${server}::uuid, ${known}::bigint) as lost`.execute(transaction);
    const lost = rows[0]?.lost ?? null;
    if (lost !== null) return { lost };
    const waiting = await onShards(async (shard) => (await select.execute(shard)).rows);
    const first = firstOf(waiting, keyOf, atMost);
    await sql`
      insert into payouts (payment_id, merchant, authorized_at, position)
      select payment_id, merchant, authorized_at,
        row_number() over (order by authorized_at, payment_id) + ${LAST_POSITION}
      from json_to_recordset(${JSON.stringify(first)}::json)
        as waiting (payment_id text, merchant text, authorized_at timestamptz)
      on conflict (payment_id, merchant) do nothing`.execute(transaction);
    for (const [merchant, payouts] of Map.groupBy(first, (row) => row.merchant)) {
      const ids = payouts.map((row) => row.payment_id);
      await sql`delete from payouts_waiting where ${isOneOf(merchant, ids)}`.execute(transaction);
    }
    return { lost, last: (await readLastPayout(transaction)).position };
  });
}

type Waiting = { payment_id: string; merchant: string; authorized_at: Date };
