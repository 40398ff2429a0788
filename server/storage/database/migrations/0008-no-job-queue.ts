import { type Kysely, sql } from "kysely";

/*
 * pg-boss once handed claimed deliveries to workers, and kept its tables in this schema. What it had in progress comes back when
 * the lease of the delivery runs out. Where another session uses the tables, or another role owns them, they stay behind: a
 * start must not wait for them, and nothing reads them any more.
 */
const DROP = `
  do $$ begin
    set local lock_timeout = '1s';
    drop schema if exists pgboss cascade;
  exception when lock_not_available or insufficient_privilege then
    raise notice 'the schema pgboss is no longer needed, and could not be dropped: %', sqlerrm;
  end $$`;

export const noJobQueue = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql.raw(DROP).execute(db);
    await sql`set local lock_timeout = 0`.execute(db);
  },
};
