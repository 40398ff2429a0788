-- Gives the record of what operators did to a role of its own, which nobody logs in with: then no operator can change it.
alter table admin_actions owner to refunds_audit;
alter function record_admin_action owner to refunds_audit;
alter function refuse_record_change owner to refunds_audit;
grant usage on schema public to refunds_audit;
grant execute on function record_admin_action to refunds_migrate, refunds_admin;
grant select on admin_actions to refunds_migrate, refunds_admin;
alter table admin_changes owner to refunds_audit;
alter function record_change owner to refunds_audit;
grant execute on function record_change to refunds_migrate;
grant select on admin_changes to refunds_migrate, refunds_admin;
