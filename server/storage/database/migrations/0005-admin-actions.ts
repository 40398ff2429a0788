import { type Kysely, sql } from "kysely";

/* What operators did. The trigger holds for the table's owner too, who could grant itself any right. */
const statements = [
  `create table admin_actions (
    action_id bigint generated always as identity primary key,
    run_id uuid not null,
    at timestamptz(3) not null default clock_timestamp(),
    operator text not null,
    database_role text not null default session_user,
    command text[] not null,
    outcome text not null check (outcome in ('begun', 'succeeded', 'refused', 'failed'))
  )`,
  `create function refuse_change() returns trigger language plpgsql as $$
    begin raise exception 'the table % only grows', tg_table_name; end $$`,
  `create trigger admin_actions_only_grow before update or delete or truncate on admin_actions
    for each statement execute function refuse_change()`,
] as const;

export const adminActions = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of statements) await sql.raw(statement).execute(db);
  },
};
