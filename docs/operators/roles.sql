-- Creates the roles of a production database: each program logs in with no more rights than it needs.
create role refunds_migrate login;
create role refunds_serve login;
create role refunds_admin nologin;
create role refunds_payouts login connection limit 10;
create role refunds_audit nologin;
create role refunds_report login connection limit 10;
alter role refunds_report set default_transaction_read_only = on;
alter role refunds_report set statement_timeout = '60s';
alter role refunds_report set idle_in_transaction_session_timeout = '60s';
grant usage, create on schema public to refunds_migrate;
-- A role of its own for each operator, because the audit names the role that logged in.
create role refunds_jane login in role refunds_admin;
create role refunds_john login in role refunds_admin;
-- No role needs temporary tables, which could stand in for others, or large objects, which could fill the disk.
revoke temporary on database refunds from public;
revoke execute on function lo_creat, lo_create, lo_from_bytea from public;
