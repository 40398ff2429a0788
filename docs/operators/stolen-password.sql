-- What somebody can do who has stolen the password of the role of a server.
-- Read everything but the audit; secrets are encrypted.
select * from payments, subscriptions;
-- Issue refunds for any merchant, up to the amounts of payments, and authorize them before they are due: they are paid, and `check`
-- names those that were not due, or have no event.
insert into payments (payment_id, merchant, kind, status, amount_cents, request_key, original_payment_id, history, sequence, created_at)
  values ('rfd_stolen', 'acme', 'REFUND', 'AUTHORIZED', 1, 'stolen', 'pay_1', '[{"status": "AUTHORIZED"}]', 1, now());
update payments set status = 'AUTHORIZED', history = history || '{"status": "AUTHORIZED"}', sequence = sequence + 1
  where kind = 'REFUND' and status = 'PENDING' and due_at is not null;
insert into payouts_waiting values ('rfd_stolen', 'acme', 'infinity');
-- Have events of refunds sent, which `check` finds, and a merchant's events to a URL of its own, signed with that merchant's secret.
insert into events values ('evt_stolen', 'acme', 'refund.authorized', 'rfd_stolen', 9, 'infinity', '{}');
insert into deliveries (webhook_id, event_id, merchant, subscription_key, due_at) values ('msg_stolen', 'evt_stolen', 'acme', 'sub_x', now());
insert into subscriptions (subscription_key, merchant, url, secret_ciphertext, type, details, created_at)
  select 'sub_stolen', merchant, 'https://example.com', secret_ciphertext, 'ALL', '{}', now() from subscriptions where ended_at is null limit 1;
-- Stop what a server does: deliveries, which `check` names, subscriptions, limits of rates, and everything, by locks or a hold.
update deliveries set state = 'EXHAUSTED', due_at = null, leased_until = null, sending = false where state = 'PENDING';
update subscriptions set ended_at = now(), secret_ciphertext = null, old_secret_ciphertext = null where ended_at is null;
update rate_limits set full_at = now();
lock table events in access exclusive mode;
select note_restore(now(), 'nothing');
-- Change its own password and settings, until an administrator does; `check` names settings.
alter role current_user password 'stolen';
alter role current_user set search_path = nowhere;
