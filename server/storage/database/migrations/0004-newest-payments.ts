import { type Kysely, sql } from "kysely";

/*
 * The index has a condition that holds for every row, so that only a query which states it too can use the index. Without
 * the condition PostgreSQL also used it to find one payment, as long as the table was new and the primary key seemed no
 * better; it kept that plan, and each refund read all rows of a merchant.
 */
const statements = [
  // Built first and then renamed, so that readers of payments wait only for the renaming.
  `create index payments_listed on payments (merchant, created_at desc, payment_id desc) where sequence >= 0`,
  "drop index payments_newest",
  "alter index payments_listed rename to payments_newest",
] as const;

export const newestPayments = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of statements) await sql.raw(statement).execute(db);
  },
};
