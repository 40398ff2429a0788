import { type Kysely, sql } from "kysely";

/** Receivers that keep timing out get fewer attempts at a time; every server has to know which. */
export const timeouts = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`alter table subscriptions add column timeouts integer check (timeouts >= 0)`.execute(db);
  },
};
