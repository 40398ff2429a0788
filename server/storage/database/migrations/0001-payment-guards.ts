/*
 * What a constraint can't say about a payment, because it compares a row with what it was before or with other rows. It holds for
 * every role, the owner of the tables included, as long as nobody switches the triggers off.
 *
 * The sum of a payment's refunds is kept by the database: no statement can set it, and the constraints `refunded_within_amount`,
 * `debit_fits` and `refund_fits` refuse a sum above the amount, a refund of a payment that has failed, and a refund of a refund.
 *
 * A trigger costs little where its condition names the columns on which it depends: saving a refund runs one function, once for
 * all refunds of a statement.
 */

/** Raises the reason with which a trigger was created. */
const refuse = `create function refuse_payment_change() returns trigger language plpgsql as $$
  begin
    raise exception 'payment %: %', old.payment_id, tg_argv[0]
      using errcode = 'check_violation', table = tg_table_name, constraint = tg_name;
  end $$`;

/**
 * It runs with the rights of the owner, so that no other role needs the right to change a sum. Planned while there are few
 * payments, the update would read all of them, also when there are many; so it may only look them up by their ids.
 */
const addRefunds = `create function add_refunds() returns trigger language plpgsql security definer
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
  declare
    complete boolean;
  begin
    with change as materialized (
      select original_payment_id, merchant, sum(amount_cents)::bigint as cents,
        bool_or(status = 'AUTHORIZED') as authorized
      from added where kind = 'REFUND' and status <> 'TERMINAL_FAILED'
      group by original_payment_id, merchant
    ), counted as (
      update payments p set refunded_cents = p.refunded_cents + change.cents
      from change
      where p.payment_id = change.original_payment_id and p.merchant = change.merchant
        and (p.settled_at is not null or not change.authorized)
      returning 1
    )
    select (select count(*) from change) = (select count(*) from counted) into complete;
    if not complete then
      raise exception 'a refund can''t be AUTHORIZED before its payment has settled'
        using errcode = 'check_violation', table = tg_table_name, constraint = tg_name;
    end if;
    return null;
  end $$`;

/** The payment's row is locked when it runs, so that no refund can be added until the change is committed. */
const requireFailedRefunds = `create function require_failed_refunds() returns trigger language plpgsql as $$
  begin
    if exists (
      select from payments where original_payment_id = new.payment_id and merchant = new.merchant
        and kind = 'REFUND' and status <> 'TERMINAL_FAILED'
    ) then
      raise exception 'payment %: its refunds have to fail before it', new.payment_id
        using errcode = 'check_violation', table = tg_table_name, constraint = tg_name;
    end if;
    return new;
  end $$`;

/** In a function, so that the owner can create them again: tables that Citus spreads can't have them. */
const guard = `create function guard_payments() returns void language plpgsql as $$
  begin
    create or replace trigger payments_add_refunds after insert on payments
      referencing new table as added for each statement execute function add_refunds();

    create or replace trigger payments_sum before update of refunded_cents on payments for each row
      when (old.refunded_cents <> new.refunded_cents and pg_trigger_depth() = 0
        and (new.refunded_cents <> 0 or new.status not in ('FAILED', 'COVERED')))
      execute function refuse_payment_change('the database adds up its refunds');

    create or replace trigger payments_terms
      before update of payment_id, merchant, kind, amount_cents, request_key, original_payment_id, created_at
      on payments for each row
      when ((old.payment_id, old.merchant, old.kind, old.amount_cents, old.request_key, old.original_payment_id, old.created_at)
        is distinct from
        (new.payment_id, new.merchant, new.kind, new.amount_cents, new.request_key, new.original_payment_id, new.created_at))
      execute function refuse_payment_change('its terms never change');

    create or replace trigger payments_transition before update of status on payments for each row
      when (old.status <> new.status and (
        (old.status, new.status) not in (
          ('PENDING', 'AUTHORIZED'), ('PENDING', 'TERMINAL_FAILED'), ('AUTHORIZED', 'TERMINAL_FAILED'),
          ('PROCESSING', 'SETTLED'), ('PROCESSING', 'FAILED'), ('SETTLED', 'FAILED'), ('SETTLED', 'COVERED'))
        or (new.status = 'AUTHORIZED' and new.due_at is null)))
      execute function refuse_payment_change('its status can''t change in this way');

    create or replace trigger payments_history before update of status, history, sequence on payments for each row
      when (new.sequence < old.sequence or old.history is distinct from
        case when old.status = new.status then new.history else new.history - -1 end)
      execute function refuse_payment_change('its history only grows');

    create or replace trigger payments_failed before update of status on payments for each row
      when (old.status <> new.status and new.status in ('FAILED', 'COVERED'))
      execute function require_failed_refunds();
  end $$`;

export const paymentGuards = [
  refuse,
  addRefunds,
  requireFailedRefunds,
  guard,
  // Otherwise a role could attach it to a temporary table, and have it change sums.
  "revoke execute on function add_refunds() from public",
  // A temporary table of another role must not replace theirs.
  `do $$ begin
    execute format('alter function add_refunds() set search_path = %I, pg_temp', current_schema());
    execute format('alter function require_failed_refunds() set search_path = %I, pg_temp', current_schema());
    execute format('alter function guard_payments() set search_path = %I, pg_temp', current_schema());
  end $$`,
  "select guard_payments()",
] as const;
