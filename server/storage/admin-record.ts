import { sql } from "kysely";
import { ADVISORY_LOCKS } from "./database/advisory-locks.ts";
import type { Store } from "./database/tables.ts";

/*
 * The record of what operators did. It exists before the first migration, and no migration changes it, so that it also records the
 * migrations, and may belong to a role that none of them uses: see the guide "Going live".
 *
 * The function is the only way to add a row. It sets what the caller could lie about, and chains the rows: a row's hash covers its
 * text and the hash of the row before. The lock lets only one session at a time continue the chain.
 */
const toStatements = (schema: string) => [
  `create table ${schema}.admin_actions (
    number bigint primary key,
    entry json not null,
    hash text not null check (hash ~ '^[0-9a-f]{64}$')
  )`,

  `create function ${schema}.record_admin_action(run_id uuid, note text, command text[], outcome text, details json)
    returns table (operator text, head text)
    language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
  declare
    number_before bigint;
    hash_before text;
    new_entry json;
    new_hash text;
  begin
    if num_nulls(run_id, note, command, outcome) > 0 or array_position(command, null) is not null then
      raise exception 'an action has a run, a note, a command and an outcome';
    end if;
    if outcome not in ('begun', 'succeeded', 'refused', 'failed') then
      raise exception 'an action is begun, succeeded, refused or failed, not %', outcome;
    end if;
    lock table ${schema}.admin_actions in exclusive mode;
    select a.number, a.hash into number_before, hash_before from ${schema}.admin_actions a order by a.number desc limit 1;
    new_entry := json_build_object(
      'number', coalesce(number_before, 0) + 1,
      'at', to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
      'operator', session_user,
      'address', host(inet_client_addr()),
      'runId', run_id, 'note', note, 'command', command, 'outcome', outcome, 'details', details);
    new_hash := encode(sha256(convert_to(coalesce(hash_before, repeat('0', 64)) || new_entry::text, 'UTF8')), 'hex');
    insert into ${schema}.admin_actions (number, entry, hash)
      values (coalesce(number_before, 0) + 1, new_entry, new_hash);
    return query select session_user::text, (coalesce(number_before, 0) + 1) || ':' || new_hash;
  end $$`,
  `revoke all on function ${schema}.record_admin_action from public`,

  // For a database of one role, which owns the table.
  `create function ${schema}.refuse_record_change() returns trigger
    language plpgsql set search_path = pg_catalog, pg_temp as $$
    begin raise exception 'the table % only grows', tg_table_name; end $$`,
  `create trigger admin_actions_only_grow before update or delete or truncate on ${schema}.admin_actions
    for each statement execute function ${schema}.refuse_record_change()`,
];

/** Creates the record in a database that has none. */
export async function prepareRecord(store: Store): Promise<void> {
  if (await hasRecord(store)) return;
  await store.transaction().execute(async (transaction) => {
    await sql`select pg_advisory_xact_lock(${ADVISORY_LOCKS.record}::integer, 0)`.execute(transaction);
    if (await hasRecord(transaction)) return;
    const { rows } = await sql<{ schema: string }>`select quote_ident(current_schema()) as schema`.execute(
      transaction,
    );
    for (const statement of toStatements(rows[0]?.schema ?? "public")) {
      await sql.raw(statement).execute(transaction);
    }
  });
}

async function hasRecord(store: Store): Promise<boolean> {
  // Not by `to_regclass`, which may remember that there was no table.
  const { rows } = await sql<{ found: boolean }>`
    select exists (select from pg_class where relname = 'admin_actions' and pg_table_is_visible(oid)) as found`.execute(
    store,
  );
  return rows[0]?.found === true;
}

/** The roles that can log in and act as the owner of the record, who could change it. */
export async function findRecordOwners(store: Store): Promise<readonly string[]> {
  const { rows } = await sql<{ name: string }>`
    select rolname as name from pg_roles join pg_class on pg_class.oid = 'admin_actions'::regclass
    where rolcanlogin and (pg_roles.oid = relowner or not rolsuper and pg_has_role(pg_roles.oid, relowner, 'member'))
    order by rolname`.execute(store);
  return rows.map(({ name }) => name);
}
