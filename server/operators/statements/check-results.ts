import { sql } from "kysely";
import type { Db } from "../../storage/database/db-types.ts";
import { type Difference, type IdRange, isIn } from "./compare-records.ts";

/* What the command `check` reads of erased data, and where it keeps its result. */

/** Until when the events of merchants were erased on request (real time), by the merchant's name. */
export async function readErasures(db: Db): Promise<ReadonlyMap<string, Date>> {
  type Erasure = { merchant: string; before: Date };
  const { rows } = await sql<Erasure>`select merchant, before from erasures`.execute(db);
  return new Map(rows.map(({ merchant, before }) => [merchant, before]));
}

/** Up to which number events of payments in a range were erased by a customer's reference, by merchant and id as `toKey` joins them. */
export async function readErasedPayments(db: Db, range: IdRange): Promise<ReadonlyMap<string, number>> {
  const { rows } = await sql<{ payment_id: string; merchant: string; sequence: number }>`
    select * from erased_payments where ${isIn(range, sql`payment_id`)}`.execute(db);
  return new Map(rows.map(({ payment_id: id, merchant, sequence }) => [toKey({ merchant, id }), sequence]));
}

export function toKey({ merchant, id }: Pick<Difference, "merchant" | "id">): string {
  return JSON.stringify([merchant, id]);
}

export type CheckResult = { readonly records: number; readonly differences: number };

export async function saveCheck(db: Db, { records, differences }: CheckResult): Promise<void> {
  await sql`
    insert into last_check (ended_at, records, differences) values (clock_timestamp(), ${records}, ${differences})
    on conflict (single_row) do update set
      ended_at = excluded.ended_at, records = excluded.records, differences = excluded.differences`.execute(
    db,
  );
}
