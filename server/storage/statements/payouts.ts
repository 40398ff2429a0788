import { sql } from "kysely";

/** What one transaction has put into the payout feed. */
export type Published = {
  /** The highest position that it has given; 0 for none. */
  readonly position: number;
  /** How many refunds have left the table of those that wait. */
  readonly taken: number;
};

/** The database's clock, in microseconds since 1970. */
export const MICROSECONDS = sql`floor(extract(epoch from clock_timestamp()) * 1000000)::bigint`;

/** Before all positions that can be given now, and after all that have been. */
export const LAST_POSITION = sql`(select greatest(max(position), ${MICROSECONDS}) from payouts)`;
