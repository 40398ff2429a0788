create role refunds_jane login in role refunds_admin;
create role refunds_john login in role refunds_admin;
