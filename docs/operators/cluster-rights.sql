grant update (refunded_cents) on payments to refunds_serve;
alter policy authorizes_refunds on payments with check (status <> 'TERMINAL_FAILED');
grant update (reason) on holds to refunds_serve; -- or Citus refuses "on conflict" there
