create role refunds_migrate login;
create role refunds_serve login;
create role refunds_admin nologin;
create role refunds_payouts login;
create role refunds_audit nologin;
grant usage, create on schema public to refunds_migrate;
