import { type Kysely, sql } from "kysely";

/*
 * The second migration: the payout feed, and the record of what operators change. Its functions run with the owner's rights; other
 * roles may call them, and have no right to write these tables themselves.
 */

/** Only the owner can lock these rows. Every role could lock the number of an advisory lock, and so stop all servers. */
const turns = [
  'create table turns (name text collate "C" primary key)',
  "insert into turns values ('retention')",
  `create function take_turn(wanted text, waits boolean) returns boolean language plpgsql security definer as $$
  begin
    if waits then
      insert into turns (name) values (wanted) on conflict do nothing;
      perform from turns where name = wanted for update;
      return true;
    end if;
    perform from turns where name = wanted for update skip locked;
    return found;
  end $$`,
];

/**
 * The feed shows a position only after every running server has noted it. If the database later lacks it, any server
 * that is left notices. A promoted standby or a restored database continues on another timeline. Unless the old one was copied
 * synchronously, nobody knows what else was published on it.
 */
const feed = [
  `create table feed (
    single_row boolean primary key default true check (single_row),
    shown bigint not null,
    timeline text,
    synchronous boolean not null default false
  )`,
  "insert into feed (shown) select coalesce(max(position), 0) from payouts",
  "create table publishers (server uuid primary key, position bigint not null, seen_at timestamptz not null)",
  `create or replace view payout_feed with (security_barrier) as
    select f.position, p.merchant, p.payment_id, p.request_key, p.original_payment_id, p.amount_cents,
      p.client_reference_id, p.soft_descriptor, f.authorized_at
    from payouts f join payments p on p.payment_id = f.payment_id and p.merchant = f.merchant
    where f.position <= (select shown from feed) and p.status = 'AUTHORIZED'`,

  // A transaction that only locks a table writes nothing.
  `create function take_feed(own uuid, known bigint) returns text language plpgsql security definer as $$
  declare
    state feed;
    here text := left(pg_walfile_name(pg_current_wal_lsn()), 8);
    copied boolean := current_setting('synchronous_standby_names') <> '' and current_setting('synchronous_commit') not in ('off', 'local');
    moment timestamptz := clock_timestamp();
  begin
    lock table feed in share row exclusive mode;
    select * into state from feed;
    if known > 0 and not exists (select from payouts where position = known) then
      return 'the payout at ' || known;
    elsif state.timeline <> here and not state.synchronous and exists (select from deployment where mode = 'production') then
      return 'payouts, perhaps, because it continues on another timeline (' || here || ') without a synchronous standby';
    end if;
    insert into publishers values (own, known, moment) on conflict (server)
      do update set position = excluded.position, seen_at = moment
      where publishers.position <> excluded.position or publishers.seen_at < moment - interval '2 seconds';
    if found then
      delete from publishers where seen_at < moment - interval '5 seconds';
    end if;
    update feed set timeline = here, synchronous = copied, shown = greatest(shown, least_known)
      from (select min(position) as least_known from publishers) as live
      where shown < least_known or (feed.timeline, feed.synchronous) is distinct from (here, copied);
    return null;
  end $$`,

  // Refunds that are no longer authorized leave the table of those that wait, unpublished. One statement, so that a server that stops in the
  // middle holds no lock.
  `create function publish_payouts(own uuid, known bigint, at_most integer) returns table (lost text, last bigint, taken integer)
  language plpgsql security definer as $$
  begin
    lost := take_feed(own, known);
    if lost is null then
      with gone as (
        delete from payouts_waiting where ctid = any(array(
          select ctid from payouts_waiting w
          where not exists (select from holds h where h.merchant in ('', w.merchant))
          order by authorized_at, payment_id limit at_most))
        returning payment_id, merchant, authorized_at
      ), published as (
        insert into payouts (payment_id, merchant, authorized_at, position)
        select g.payment_id, g.merchant, g.authorized_at, row_number() over (order by g.authorized_at, g.payment_id)
          + (select greatest(max(position), floor(extract(epoch from clock_timestamp()) * 1000000)::bigint) from payouts)
        from gone g join payments p on p.payment_id = g.payment_id and p.merchant = g.merchant
        where p.kind = 'REFUND' and p.status <> 'PENDING'
        on conflict do nothing
        returning position
      )
      select count(*), (select max(position) from published) into taken, last from gone;
      last := coalesce(last, (select max(position) from payouts), 0);
    end if;
    return next;
  end $$`,
  `create function leave_feed(own uuid) returns void language sql security definer
    begin atomic delete from publishers where server = own; end`,

  // Only once after each restore: the marks of other servers are older than the time at which the first of them noticed it.
  `create function note_restore(at timestamptz, missing text) returns boolean language plpgsql security definer as $$
  begin
    insert into deployment as known (mode, restored_at) values ('production', clock_timestamp())
      on conflict (single_row) do update set restored_at = clock_timestamp()
      where known.restored_at is null or known.restored_at < at;
    if not found then return false; end if;
    insert into holds (merchant, reason) values ('', 'restored to an earlier state, without ' || missing) on conflict do nothing;
    update feed set timeline = left(pg_walfile_name(pg_current_wal_lsn()), 8), synchronous = false;
    return true;
  end $$`,
];

/** Records each change that an operator makes, by our commands or by psql; `role-rights.ts` attaches the trigger. A row names the changed record, not a person. */
const record = [
  `create table admin_changes (
    number bigint generated always as identity primary key,
    at timestamptz not null default clock_timestamp(),
    operator text not null default session_user,
    run text,
    name text not null,
    change text not null,
    key text collate "C" not null,
    merchant text collate "C",
    state jsonb not null
  )`,
  "create index admin_changes_key on admin_changes (key, merchant, number)",

  // Its arguments are the column with the key, and those whose values are kept.
  `create function record_change() returns trigger language plpgsql security definer as $$
  declare
    changed jsonb := to_jsonb(case tg_op when 'DELETE' then old else new end);
  begin
    insert into admin_changes (run, name, change, key, merchant, state) values (
      nullif(current_setting('refunds.run', true), ''), tg_table_name, lower(tg_op), changed ->> tg_argv[0], changed ->> 'merchant',
      (select coalesce(jsonb_object_agg(key, value), '{}') from jsonb_each(changed) where key = any(tg_argv)));
    return null;
  end $$`,
];

const FUNCTIONS = [
  "take_turn(text, boolean)",
  "take_feed(uuid, bigint)",
  "publish_payouts(uuid, bigint, integer)",
  "leave_feed(uuid)",
  "note_restore(timestamptz, text)",
  "record_change()",
];

const guards = FUNCTIONS.flatMap((name) => [
  `revoke execute on function ${name} from public`,
  // A temporary table of another role must not replace theirs.
  `do $$ begin execute format('alter function ${name} set search_path = %I, pg_temp', current_schema()); end $$`,
]);

export const payoutAndAuditTables = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of [...turns, ...feed, ...record, ...guards]) await sql.raw(statement).execute(db);
  },
};
