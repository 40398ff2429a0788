import { hash } from "node:crypto";
import { type RawBuilder, sql } from "kysely";
import { waitForLock } from "../../storage/database/advisory-locks.ts";
import type { Db } from "../../storage/database/db-types.ts";

/** Adds a row to the record of what operators did. No row of it is ever changed or removed. */
export async function recordAdminAction(db: Db, action: AdminAction): Promise<RecordedAction> {
  const { runId, note, command, outcome } = action;
  const { rows } = await sql<RecordedAction>`
    select operator, head from record_admin_action(${runId}::uuid, ${note}::text, ${[...command]}::text[], ${outcome}::text,
      null::json)`.execute(db);
  const [recorded] = rows;
  if (!recorded) throw new Error("the record of admin actions returned no row");
  return recorded;
}

/** A row about a run of an admin command, which writes one when it begins, and one when it has ended. */
export type AdminAction = {
  /** The same in both rows. */
  readonly runId: string;
  /** What the command says about who runs it, such as an account and a machine. Nobody has verified it. */
  readonly note: string;
  /** The command and its arguments. */
  readonly command: readonly string[];
  readonly outcome: "begun" | "succeeded" | "refused" | "failed";
};

/** What the database says about a row that it has added. */
export type RecordedAction = {
  /** The user of the database session. */
  readonly operator: string;
  /** The head of the chain: the row's number and hash, such as `12:9f86d081…`. */
  readonly head: string;
};

/** What a row says, as the function in the database wrote it. */
export type RecordEntry = Omit<AdminAction, "command"> & {
  readonly number: number;
  /** Null in a row that no command of ours wrote. */
  readonly command: AdminAction["command"] | null;
  /** The database's time, with six decimals. */
  readonly at: string;
  readonly operator: string;
  /** Where the session came from; null for a socket of the same machine. */
  readonly address: string | null;
};

/** The latest rows, newest first. */
export async function listAdminActions(db: Db, limit: number): Promise<readonly RecordEntry[]> {
  const { rows } = await sql<{ entry: RecordEntry }>`
    select entry from admin_actions order by number desc limit ${limit}`.execute(db);
  return rows.map(({ entry }) => entry);
}

/**
 * The condition that a change `c` in `admin_changes` was made by no command of its operator that makes such changes, or by one that had
 * ended: any session can name the run of another.
 */
export const isByHand: RawBuilder<boolean> = sql`not exists (
  select from admin_actions a
  where a.entry ->> 'runId' = c.run and a.entry ->> 'operator' = c.operator
    and not exists (select from admin_actions e where e.entry ->> 'runId' = c.run
      and e.entry ->> 'outcome' <> 'begun' and (e.entry ->> 'at')::timestamptz < c.at)
    and case c.name
    when 'payments' then a.entry -> 'command' ->> 0 in ('payments', 'reconcile', 'erase')
    when 'holds' then a.entry -> 'command' ->> 0 in ('hold', 'release')
    when 'blocks' then a.entry -> 'command' ->> 0 in ('block', 'unblock')
    else a.entry -> 'command' ->> 0 not in ('audit', 'check', 'holds', 'blocks', 'payouts', 'deliveries', 'subscriptions') end)`;

/** A change that an operator made without a command. */
export type ChangeByHand = { readonly at: string; readonly operator: string; readonly change: string };

/** The latest of them, newest first; none where the record has no changes yet. */
export async function listChangesByHand(db: Db, limit: number): Promise<readonly ChangeByHand[]> {
  const { rows: tables } = await sql<{ found: boolean }>`
    select to_regclass('admin_changes') is not null as found`.execute(db);
  if (!tables[0]?.found) return [];
  const { rows } = await sql<ChangeByHand>`
    select to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as at, operator,
      change || ' ' || name || ' ' || key || coalesce(' of ' || merchant, '') as change
    from admin_changes c where ${isByHand} order by number desc limit ${limit}`.execute(db);
  return rows;
}

/** A row of the table. Its hash covers the exact text. */
type RecordRow = { readonly number: number; readonly entry: string; readonly hash: string };

/** A link of the chain: a row's number and hash. */
export type Link = { readonly number: number; readonly hash: string };

const NO_LINK: Link = { number: 0, hash: "0".repeat(64) };
const PAGE = 1_000;

/**
 * Follows the chain from its first row to its last.
 * @param kept a head that was kept elsewhere; without one, missing last rows, or a chain that was written anew, can't be noticed
 * @param onError called with each row or number that is not as it was written
 * @returns the head; number 0 when there is no row
 */
export async function verifyChain(
  db: Db,
  { kept, onError }: { kept?: Link | undefined; onError: (error: string) => void },
): Promise<Link> {
  let last = NO_LINK;
  let after = Number.MIN_SAFE_INTEGER;
  let seen = kept === undefined;
  for (;;) {
    const { rows } = await sql<RecordRow>`
      select number, entry::text as entry, hash from admin_actions where number > ${after}::bigint
      order by number limit ${PAGE}`.execute(db);
    for (const row of rows) {
      after = row.number;
      const error = findError(row, last);
      if (error !== undefined) onError(error);
      if (row.number === kept?.number) {
        seen = true;
        if (row.hash !== kept.hash) onError(`row ${row.number} is not the one with the hash that was kept`);
      }
      if (row.number > last.number) last = row;
    }
    if (rows.length < PAGE) break;
  }
  if (!seen) onError(`row ${kept?.number}, the head that was kept, is missing`);
  return { number: last.number, hash: last.hash };
}

function findError({ number, entry, hash: stored }: RecordRow, before: Link): string | undefined {
  if (number <= before.number) return `row ${number} does not belong to the chain`;
  const [first, last] = [before.number + 1, number - 1];
  if (first < last) return `rows ${first} to ${last} are missing`;
  if (first === last) return `row ${first} is missing`;
  const isAsWritten =
    hash("sha256", before.hash + entry) === stored && (JSON.parse(entry) as Link).number === number;
  return isAsWritten ? undefined : `row ${number}, or the one before it, is not as it was written`;
}

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
export async function prepareRecord(db: Db): Promise<void> {
  if (await hasRecord(db)) return;
  await db.transaction().execute(async (transaction) => {
    await waitForLock(transaction, "record", "transaction");
    if (await hasRecord(transaction)) return;
    const { rows } = await sql<{ schema: string }>`select quote_ident(current_schema()) as schema`.execute(
      transaction,
    );
    for (const statement of toStatements(rows[0]?.schema ?? "public"))
      await sql.raw(statement).execute(transaction);
  });
}

async function hasRecord(db: Db): Promise<boolean> {
  // Not by `to_regclass`, which may remember that there was no table.
  const { rows } = await sql<{ found: boolean }>`
    select exists (select from pg_class where relname = 'admin_actions' and pg_table_is_visible(oid)) as found`.execute(
    db,
  );
  return rows[0]?.found === true;
}

/** The roles that can log in and act as the owner of the record, who could change it. */
export async function findRecordOwners(db: Db): Promise<readonly string[]> {
  const { rows } = await sql<{ name: string }>`
    select rolname as name from pg_roles join pg_class on pg_class.oid = 'admin_actions'::regclass
    where rolcanlogin and (pg_roles.oid = relowner or not rolsuper and pg_has_role(pg_roles.oid, relowner, 'member'))
    order by rolname`.execute(db);
  return rows.map(({ name }) => name);
}
