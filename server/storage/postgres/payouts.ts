import { sql } from "kysely";
import type { Store } from "../database/tables.ts";
import { isHeld } from "../statements/holds.ts";
import { LAST_POSITION, type Published } from "../statements/payouts.ts";

/** By one statement. */
export async function publishWaiting(transaction: Store, limit: number): Promise<Published> {
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
