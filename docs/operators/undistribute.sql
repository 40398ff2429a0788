-- Turns the tables of a Citus cluster into plain ones again.
begin;
set local citus.multi_shard_modify_mode = 'sequential';
select undistribute_table('payments', cascade_via_foreign_keys => true);
select undistribute_table('deliveries', cascade_via_foreign_keys => true);
select undistribute_table(name) from unnest(array['events', 'subscriptions']) as name;
select undistribute_table(name) from unnest(array['access_tokens', 'clock', 'deployment', 'holds', 'payouts_waiting']) as name;
select guard_payments();
commit;
