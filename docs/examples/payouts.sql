select * from payout_feed where position > 0 order by position limit 1000;
