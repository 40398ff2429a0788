begin;
revoke all on payments, events, subscriptions, deliveries, delivery_attempts, deployment, rate_limits, holds, blocks,
    payouts, payouts_waiting, payout_feed
  from refunds_serve, refunds_admin, refunds_payouts, refunds_report;
grant usage on schema public to refunds_serve, refunds_admin, refunds_payouts, refunds_report;
grant select on kysely_migration, kysely_migration_lock, clock to refunds_serve, refunds_admin;
grant select on payments, events, subscriptions, deliveries, delivery_attempts to refunds_serve, refunds_admin;
grant insert on events, deliveries, delivery_attempts to refunds_serve, refunds_admin;
grant update (state, due_at, attempts, only_once, redelivery_requested, fence, leased_until, sending)
  on deliveries to refunds_serve, refunds_admin;
grant delete on events, deliveries to refunds_serve, refunds_admin;

-- A server adds refunds, authorizes them, and takes subscriptions. It can't change a sum, an amount or a URL.
grant insert (payment_id, merchant, kind, status, amount_cents, request_key, client_reference_id, soft_descriptor,
  original_payment_id, due_at, error_code, error_message, history, sequence, created_at) on payments to refunds_serve;
grant update (status, history, sequence) on payments to refunds_serve;
grant insert on subscriptions to refunds_serve;
grant update (ended_at, secret_ciphertext, old_secret_ciphertext, timeouts, caller) on subscriptions to refunds_serve;
grant select, insert, update (restored_at) on deployment to refunds_serve;
grant select, insert, update on rate_limits to refunds_serve;
grant select on blocks, last_check to refunds_serve;
grant select, insert on holds to refunds_serve;
grant select, insert on payouts to refunds_serve;
grant select, insert, delete on payouts_waiting to refunds_serve;

-- Operators add payments, and say what became of them.
grant insert (payment_id, merchant, kind, status, amount_cents, request_key, client_reference_id, soft_descriptor,
  original_payment_id, settled_at, due_at, error_code, error_message, history, sequence, created_at) on payments to refunds_admin;
grant update (status, refunded_cents, settled_at, due_at, error_code, error_message, client_reference_id, soft_descriptor,
  history, sequence) on payments to refunds_admin;
grant update (ended_at, secret_ciphertext, old_secret_ciphertext, old_secret_until, secret_changed_at, caller), delete
  on subscriptions to refunds_admin;
grant select, insert, update, delete on blocks to refunds_admin;
grant select, insert, update on erasures, erased_payments, last_check to refunds_admin;
grant select, insert, delete on holds to refunds_admin;
grant select, insert on payouts to refunds_admin;
grant insert on payouts_waiting to refunds_admin;
grant select on payout_feed to refunds_payouts, refunds_admin;

-- Reports see no secret, no token, no URL, which may contain one, and no text about a customer.
grant select (payment_id, merchant, kind, status, amount_cents, request_key, original_payment_id, refunded_cents,
  settled_at, due_at, error_code, history, sequence, created_at) on payments to refunds_report;
grant select (event_id, merchant, type, resource_id, sequence, occurred_at) on events to refunds_report;
grant select (subscription_key, merchant, type, details, created_at, ended_at) on subscriptions to refunds_report;
grant select on deliveries to refunds_report;
grant select (webhook_id, merchant, number, at, status, milliseconds) on delivery_attempts to refunds_report;

-- Which rows: every role those that its rights allow, and a server no more than these.
alter table payments enable row level security;
alter table events enable row level security;
alter table deliveries enable row level security;
drop policy if exists all_rows on payments;
drop policy if exists all_rows on events;
drop policy if exists all_rows on deliveries;
drop policy if exists adds_refunds on payments;
drop policy if exists authorizes_refunds on payments;
drop policy if exists removes_past on events;
drop policy if exists removes_finished on deliveries;
create policy all_rows on payments using (true);
create policy all_rows on events using (true);
create policy all_rows on deliveries using (true);
create policy adds_refunds on payments as restrictive for insert to refunds_serve with check (kind = 'REFUND');
create policy authorizes_refunds on payments as restrictive for update to refunds_serve
  with check (kind = 'REFUND' and status <> 'TERMINAL_FAILED');
create policy removes_past on events as restrictive for delete to refunds_serve
  using (occurred_at < now() - interval '90 days'); -- as many as RETENTION_DAYS
create policy removes_finished on deliveries as restrictive for delete to refunds_serve using (state <> 'PENDING');
commit;
