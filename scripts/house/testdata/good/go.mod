module example.test/chain

go 1.26
