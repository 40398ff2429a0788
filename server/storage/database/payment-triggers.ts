import { sql } from "kysely";
import type { Db } from "./db-types.ts";
import { StoreStartError } from "./start-error.ts";

/*
 * A part of the first migration: which columns of a payment or a refund occur together, and what a constraint can't say, because it
 * compares a row with what it was before or with other rows. It holds for every role, the owner of the tables included, as long as
 * nobody switches the triggers off. Tables that Citus spreads have no triggers, only what `constrain_payments` adds.
 *
 * The sum of a payment's refunds is kept by the database: each refund is added to it, a payment that fails sets it to 0, and no
 * statement can change it in another way. A sum above the amount, a refund of a payment that has failed, and a refund of a refund are
 * refused.
 *
 * Each statement reads and prepares the constraints of a table and copies the conditions of its triggers, and a refund inserts into
 * `payments` and updates it. So conditions are functions, which are short to name, and most of what could be a constraint is part of
 * the one function that runs for all refunds of a statement, whose plan PostgreSQL keeps: as constraints they made a third of a
 * refund's cost. It finds and locks the original as well, so that there is no foreign key.
 */

/** Which columns of a payment or a refund occur together. */
const fits = (row: string) => `(
    ${row}amount_cents between 1 and 999999999999 and ${row}sequence >= 0
    and coalesce(${row}history -> -1 ->> 'status' = ${row}status, true)
    and case ${row}kind
      when 'DEBIT' then ${row}status in ('PROCESSING', 'SETTLED', 'FAILED', 'COVERED')
        and (${row}status not in ('SETTLED', 'COVERED') or ${row}settled_at is not null)
        and (${row}status not in ('FAILED', 'COVERED') or ${row}refunded_cents = 0)
        and num_nonnulls(${row}original_payment_id, ${row}due_at, ${row}error_code, ${row}error_message) = 0
      when 'REFUND' then ${row}status in ('PENDING', 'AUTHORIZED', 'TERMINAL_FAILED')
        and num_nulls(${row}original_payment_id, ${row}request_key) = 0
        and ${row}refunded_cents = 0 and ${row}settled_at is null
        and num_nonnulls(${row}error_code, ${row}error_message)
          = case when ${row}status = 'TERMINAL_FAILED' then 2 else 0 end
      end) is true`;

const refuse = `create function refuse_payment_change() returns trigger language plpgsql as $$
  begin
    raise exception 'payment %: its terms never change, its history only grows, and its status can''t change in this way', old.payment_id
      using errcode = 'check_violation', table = tg_table_name, constraint = tg_name;
  end $$`;

/**
 * It runs with the rights of the owner, so that no other role needs the right to change a sum. Payments that are no refunds form groups
 * without an original. Every refund has its payment updated, a failed one by 0, so that the payment is locked and can't be deleted
 * meanwhile. Planned while there are few payments, a join by a hash would read all of them, also when there are many; comparisons with
 * arrays rule it out at less cost than settings of the function.
 */
const addRefunds = `create function add_refunds() returns trigger language plpgsql security definer as $$
  declare
    fit boolean;
    complete boolean;
  begin
    with change as materialized (
      select original_payment_id, merchant, bool_and(refunded_cents = 0 and sequence <= jsonb_array_length(history) + 1 and ${fits("added.")}) as fit, bool_or(status = 'AUTHORIZED' or due_at is not null) as settled,
        sum(case status when 'TERMINAL_FAILED' then 0 else amount_cents end)::bigint as cents
      from added
      group by original_payment_id, merchant
    ), counted as (
      update payments p set refunded_cents = p.refunded_cents + change.cents
      from change
      where p.payment_id = any(array[change.original_payment_id]) and p.merchant = any(array[change.merchant])
        and (change.cents = 0 or p.kind = 'DEBIT' and p.status in ('PROCESSING', 'SETTLED'))
        and (p.settled_at is not null or not change.settled)
      returning 1
    )
    select coalesce(bool_and(change.fit), true), count(original_payment_id) = (select count(*) from counted) from change
      into fit, complete;
    if not fit then
      raise exception 'columns of a payment contradict one another'
        using errcode = 'check_violation', table = tg_table_name, constraint = tg_name;
    end if;
    if not complete then
      raise exception 'a refund needs a payment that has not failed, and has settled if the refund is AUTHORIZED or has a due date'
        using errcode = 'check_violation', table = tg_table_name, constraint = tg_name;
    end if;
    return null;
  end $$`;

/**
 * The update of a sum by `add_refunds`, which runs as the owner, costs only the trigger's short condition. Other roles can't
 * imitate it: they could update from a trigger of a temporary table, but have no right to make triggers of payments.
 */
const keepSum = `create function keep_sum() returns trigger language plpgsql as $$
  begin
    if old.refunded_cents <> new.refunded_cents and (new.refunded_cents <> 0 or new.status not in ('FAILED', 'COVERED')) then
      raise exception 'payment %: the database adds up its refunds', old.payment_id
        using errcode = 'check_violation', table = tg_table_name, constraint = tg_name;
    end if;
    return new;
  end $$`;

const keepOriginals = `create function keep_originals() returns trigger language plpgsql as $$
  begin
    if exists (
      select from removed join payments refund
        on refund.original_payment_id = removed.payment_id and refund.merchant = removed.merchant
    ) then
      raise exception 'a payment can''t be deleted before its refunds'
        using errcode = 'foreign_key_violation', table = tg_table_name, constraint = tg_name;
    end if;
    return null;
  end $$`;

/**
 * A payment that fails is locked when it runs, so that no refund can be added until the change is committed. Settlement locks the
 * payment, too, and sets the due dates of its refunds.
 */
const fitOthers = `create function fit_others() returns trigger language plpgsql as $$
  begin
    if new.kind = 'DEBIT' and exists (
      select from payments where original_payment_id = new.payment_id and merchant = new.merchant
        and kind = 'REFUND' and status <> 'TERMINAL_FAILED'
    ) or new.kind = 'REFUND' and not exists (
      select from payments where payment_id = new.original_payment_id and merchant = new.merchant and settled_at is not null
    ) then
      raise exception 'payment %: it fails only after its refunds, and a refund is due only after its payment has settled', new.payment_id
        using errcode = 'check_violation', table = tg_table_name, constraint = tg_name;
    end if;
    return new;
  end $$`;

/**
 * Whether a payment may change like this: its terms stay, its columns fit, its status has a transition, and its history grows. Its body is
 * parsed when it is created, so that it means the same whatever the search path of a session is.
 */
const mayBecome = `create or replace function may_become(old payments, new payments) returns boolean language sql immutable begin atomic
    select (old.payment_id, old.merchant, old.kind, old.amount_cents, old.request_key, old.original_payment_id, old.created_at)
      is not distinct from
      (new.payment_id, new.merchant, new.kind, new.amount_cents, new.request_key, new.original_payment_id, new.created_at)
      and ${fits("new.")} and (old.status = new.status
      or (old.status, new.status) in (
        ('PENDING', 'AUTHORIZED'), ('PENDING', 'TERMINAL_FAILED'), ('AUTHORIZED', 'TERMINAL_FAILED'),
        ('PROCESSING', 'SETTLED'), ('PROCESSING', 'FAILED'), ('SETTLED', 'FAILED'), ('SETTLED', 'COVERED'))
      and (new.status <> 'AUTHORIZED' or new.due_at is not null))
      and new.sequence between old.sequence and old.sequence + 1 and old.history is not distinct from
      case when old.status = new.status then new.history else new.history - -1 end; -- without its last entry
    end`;

/**
 * A function makes the triggers, so that the owner can make them again after the tables were spread by Citus, which allows none; then it
 * also drops what `constrain_payments` has added. It makes their condition, too, which Citus drops with a table that it makes anew, and
 * migrations drop: PostgreSQL 15.20 refuses to add a column with a default to a table while functions use its rows.
 */
const guard = `create function guard_payments() returns void language plpgsql
  set client_min_messages = warning as $$
  begin
    ${mayBecome};

    create or replace trigger payments_add_refunds after insert on payments
      referencing new table as added for each statement execute function add_refunds();

    create or replace trigger payments_keep_originals after delete on payments
      referencing old table as removed for each statement execute function keep_originals();

    create or replace trigger payments_sum before update of refunded_cents on payments for each row
      when (pg_trigger_depth() = 0 or not has_table_privilege('payments'::regclass, 'TRIGGER')) execute function keep_sum();

    create or replace trigger payments_change
      before update of payment_id, merchant, kind, amount_cents, request_key, original_payment_id, created_at, status, settled_at, due_at,
        error_code, error_message, history, sequence
      on payments for each row when (not may_become(old, new)) execute function refuse_payment_change();

    create or replace trigger payments_others before update of due_at, status on payments for each row
      when (old.due_at is distinct from new.due_at or old.status <> new.status and new.status in ('FAILED', 'COVERED'))
      execute function fit_others();

    alter table payments
      drop constraint if exists payment_fits,
      drop constraint if exists payments_original_payment_id_merchant_fkey;

    -- Also in sessions that let triggers rest, as session_replication_role = replica does.
    execute (select string_agg(format('alter table payments enable always trigger %I', tgname), ';')
      from pg_trigger where tgrelid = 'payments'::regclass and not tgisinternal);
  end $$`;

/** A session prepares it once; as a condition of the table, each statement would anew. */
const paymentFits = `create function payment_fits(kind text, status text, amount_cents bigint, request_key text,
    original_payment_id text, refunded_cents bigint, settled_at timestamptz, due_at timestamptz, error_code text,
    error_message text, history jsonb, sequence integer) returns boolean language plpgsql immutable
  set search_path = pg_catalog, pg_temp as $$
  begin
    return ${fits("")};
  end $$`;

/** What tables that Citus spreads have instead of the triggers. */
const constrain = `create function constrain_payments() returns void language plpgsql as $$
  begin
    alter table payments
      add constraint payment_fits check (payment_fits(kind, status, amount_cents, request_key, original_payment_id,
        refunded_cents, settled_at, due_at, error_code, error_message, history, sequence)),
      add constraint payments_original_payment_id_merchant_fkey
        foreign key (original_payment_id, merchant) references payments (payment_id, merchant);
  end $$`;

export const paymentGuards = [
  refuse,
  addRefunds,
  keepSum,
  keepOriginals,
  fitOthers,
  guard,
  paymentFits,
  constrain,
  // Otherwise a role could attach it to a temporary table, and have it change sums.
  "revoke execute on function add_refunds() from public",
  // A temporary table of another role must not replace theirs.
  `do $$ declare name text; begin
    foreach name in array array[
      'add_refunds', 'keep_sum', 'keep_originals', 'fit_others', 'guard_payments', 'constrain_payments'
    ] loop
      execute format('alter function %I() set search_path = %I, pg_temp', name, current_schema());
    end loop;
  end $$`,
  "select guard_payments()",
] as const;

/** The triggers of the table `payments`, which `guard_payments()` creates where Citus does not spread it. */
const PAYMENT_TRIGGERS = [
  "payments_add_refunds",
  "payments_change",
  "payments_keep_originals",
  "payments_others",
  "payments_sum",
] as const;

/** The triggers of payments that are missing, or that somebody has switched off. */
export async function findMissingTriggers(db: Db): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select name from unnest(${PAYMENT_TRIGGERS}::text[]) as name
    where not exists (
      select from pg_trigger where tgrelid = 'payments'::regclass and tgname = name and tgenabled in ('O', 'A'))
    order by name`.execute(db);
  return rows.map(({ name }) => name);
}

/** Throws {@link StoreStartError} where the database would not add up refunds, or not refuse what it should. */
export function requireGuards(missing: readonly string[]): void {
  if (missing.length === 0) return;
  throw new StoreStartError(
    `The table payments lacks triggers, or they are disabled: ${missing.join(", ")}. Without them the database would not add up refunds. Run this as the owner of the tables: select guard_payments()`,
  );
}
