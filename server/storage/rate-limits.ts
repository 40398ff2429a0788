import { sql } from "kysely";
import type { Store } from "./tables.ts";

/**
 * Adds calls to a merchant's bucket, by the database's clock, so that the clocks of servers need not agree. A bucket is
 * nothing but the instant at which it is full again: every call puts that off.
 *
 * @param calls that were let through since the last report; also more than there was room for, which later calls then lack
 * @param msPerCall milliseconds in which the bucket gains one call
 * @returns milliseconds until the bucket is full
 */
export async function reportCalls(
  store: Store,
  { merchant, calls, msPerCall }: { merchant: string; calls: number; msPerCall: number },
): Promise<number> {
  const cost = sql`(${calls * msPerCall}::float8 * interval '1 ms')`;
  const { rows } = await sql<{ full_in_ms: number }>`
    insert into rate_limits as known (merchant, full_at) values (${merchant}, clock_timestamp() + ${cost})
    on conflict (merchant) do update set full_at = greatest(known.full_at, clock_timestamp()) + ${cost}
    returning extract(epoch from full_at - clock_timestamp())::float8 * 1000 as full_in_ms`.execute(store);
  return Math.max(0, rows[0]?.full_in_ms ?? 0);
}
