module example.com/merchant

go 1.18
