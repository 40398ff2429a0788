module example.com/merchant

go 1.18

require example.com/payments v0.0.0

replace example.com/payments => ./payments
