import { type Kysely, sql } from "kysely";

/*
 * PostgreSQL 15.20 refuses to add a column with a default to a table while functions use its rows, and where Citus makes a table
 * anew, these go with the old one. So `guard_payments()` now creates the functions of its triggers, too: a migration, or whoever
 * brings tables back from Citus, drops them and then calls it. Their texts are those that the database has. Tables that Citus has
 * spread have no triggers, so there the functions would only be in the way.
 */
const renew = `do $$ begin
  execute (
    select replace(pg_get_functiondef('guard_payments'::regproc), E'begin\\n',
      E'begin\\n' || string_agg(pg_get_functiondef(name::regproc), E';\\n') || E';\\n')
    from unnest(array['keeps_terms', 'may_become', 'extends_history']) as name);
  if not exists (select from pg_trigger where tgrelid = 'payments'::regclass and tgname = 'payments_terms') then
    drop function keeps_terms, may_become, extends_history;
  end if;
  end $$`;

export const guardsAnew = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql.raw(renew).execute(db);
  },
};
