-- What the roles need besides on a Citus cluster, whose tables have no triggers.
grant update (refunded_cents) on payments to refunds_serve;
alter policy authorizes_refunds on payments with check (status <> 'TERMINAL_FAILED');
grant insert on payouts to refunds_serve;
grant delete on payouts_waiting to refunds_serve;
grant update (reason) on holds to refunds_admin; -- or Citus refuses "on conflict" there
