import { type Kysely, sql } from "kysely";

/*
 * With a condition that holds for every row, so that only a query that states it too can use the index. Without, PostgreSQL took it for finding one payment as well, as long as the table was new and the
 * primary key seemed no better; it kept that plan, and each refund read all of a merchant's rows.
 */
const statements = [
  // First built, and then put in the other's place: whoever reads payments waits only for the latter.
  `create index payments_listed on payments (merchant, created_at desc, payment_id desc) where sequence >= 0`,
  "drop index payments_newest",
  "alter index payments_listed rename to payments_newest",
] as const;

export const newestPayments = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of statements) await sql.raw(statement).execute(db);
  },
};
