grant usage on schema public to refunds_serve, refunds_admin, refunds_payouts;
grant select on kysely_migration, kysely_migration_lock, clock to refunds_serve, refunds_admin;

grant select, insert, update on payments, subscriptions, deployment, rate_limits to refunds_serve;
grant select, insert, update, delete on events, deliveries, delivery_attempts to refunds_serve;

grant select, insert, update on payments to refunds_admin;
grant select, update, delete on subscriptions to refunds_admin;
grant select, insert, update, delete on events, deliveries, delivery_attempts to refunds_admin;

grant select on blocks to refunds_serve;
grant select, insert, update, delete on blocks to refunds_admin;
grant select, insert on holds to refunds_serve;
grant select, insert, delete on holds to refunds_admin;
grant select on payout_feed to refunds_payouts, refunds_admin;
grant select, insert on payouts to refunds_serve, refunds_admin;
grant select, insert, delete on payouts_waiting to refunds_serve;
grant insert on payouts_waiting to refunds_admin;
