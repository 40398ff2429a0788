import { type Kysely, sql } from "kysely";

/** What is due next is counted in domain time from the end of an attempt, so a reader needs to see that end in it, too. */
export const attemptTimes = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`alter table delivery_attempts add column domain_at timestamptz(3)`.execute(db);
  },
};
