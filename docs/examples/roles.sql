create role refunds_migrate login;
create role refunds_serve login;
create role refunds_admin login;
create role refunds_payouts login;
grant usage, create on schema public to refunds_migrate;
