-- What each merchant refunded in each month, in cents.
select merchant, date_trunc('month', created_at) as month, status, count(*) as refunds, sum(amount_cents) as cents
from payments where kind = 'REFUND'
group by 1, 2, 3 order by 1, 2, 3;

-- Refunds that are overdue.
select merchant, payment_id, amount_cents, due_at
from payments where kind = 'REFUND' and status = 'PENDING' and due_at < now() - interval '5 minutes'
order by due_at;

-- Live subscriptions whose deliveries of the last week failed most often.
select s.merchant, s.subscription_key, count(*) as attempts, count(*) filter (where a.status not between 200 and 299
  or a.status is null) as failed
from delivery_attempts a join deliveries d using (webhook_id, merchant) join subscriptions s using (subscription_key, merchant)
where a.at > now() - interval '7 days' and s.ended_at is null
group by 1, 2 order by failed desc limit 20;
