import { sql } from "kysely";
import type { Db } from "./database/db-types.ts";

/**
 * Takes calls from a merchant's token bucket (D27), by the database's clock, because the clocks of servers may differ. The
 * bucket is stored as the instant at which it is full again. Every call moves that instant further away, but never further than a
 * burst and the calls of {@link MAX_SERVERS} servers take: otherwise a clock that was once ahead would refuse calls for long.
 * @param calls the calls since the last report; if they exceed what is in the bucket, later calls make up for them
 * @param msPerCall milliseconds in which the bucket gains one call
 * @returns milliseconds until the bucket is full
 */
export async function reportCalls(
  db: Db,
  { merchant, calls, msPerCall }: { merchant: string; calls: number; msPerCall: number },
): Promise<number> {
  const after = (ms: number) => sql`${ms}::float8 * interval '1 ms'`;
  const cost = after(calls * msPerCall);
  const latest = sql`clock_timestamp() + ${after(2_000 + MAX_SERVERS * Math.max(100, msPerCall))}`;
  const { rows } = await sql<{ full_in_ms: number }>`
    insert into rate_limits as known (merchant, full_at) values (${merchant}, least(clock_timestamp() + ${cost}, ${latest}))
    on conflict (merchant) do update set full_at = least(greatest(known.full_at, clock_timestamp()) + ${cost}, ${latest})
    returning extract(epoch from full_at - clock_timestamp())::float8 * 1000 as full_in_ms`.execute(db);
  return Math.max(0, rows[0]?.full_in_ms ?? 0);
}

/** The servers whose unreported calls a bucket remembers; each lets through a tenth of a second's calls, or one. */
const MAX_SERVERS = 80;
