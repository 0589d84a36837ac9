package market_test

import (
	"fmt"

	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/market"
)

// A timer with a gas limit of 100,000 cycles and a cell limit of 1,000 pre-pays for all of them. Its fire uses less. The
// unused part is refunded, the tip goes to the proposer, and the rest of the charge is burned. The lane's fee and the tip
// are charged by size, here the cycles: the fire takes a larger share of the lane's cycles than of its cells.
func ExamplePrice_Settle() {
	price := market.Price{
		Capacity: market.Capacity{Cycles: 2_000_000, Cells: 2_000_000},
		Cycle:    math.LegacyMustNewDecFromStr("0.001"),
		Cell:     math.LegacyMustNewDecFromStr("0.03"),
		Lane:     math.LegacyMustNewDecFromStr("0.001"),
		Priority: math.LegacyMustNewDecFromStr("0.0005"),
	}
	preCharge := price.Cost(100_000, 1_000)
	s := price.Settle(preCharge, 61_234, 87)
	fmt.Println("pre-charge:", preCharge)
	fmt.Println("charged:", s.Charged, "= burned", s.Burned, "+ tip", s.Tip)
	fmt.Println("refunded:", s.Refund)
	// Output:
	// pre-charge: 280
	// charged: 156 = burned 126 + tip 30
	// refunded: 124
}

// A full lane raises the basefee by an eighth, an empty one lowers it by an eighth, and one at the target leaves it as it is.
func ExampleBasefee_Next() {
	rule := market.Basefee{
		Capacity:  2_000_000,
		Target:    math.LegacyMustNewDecFromStr("0.5"),
		MaxChange: math.LegacyMustNewDecFromStr("0.125"),
		Min:       math.LegacyMustNewDecFromStr("0.001"),
		Max:       math.LegacyNewDec(1),
		Response:  market.Clip,
	}
	last := math.LegacyMustNewDecFromStr("0.008")
	for _, used := range []uint64{2_000_000, 1_000_000, 0} {
		fmt.Println(used, "cycles used:", rule.Next(last, market.Use{Size: used}))
	}
	// Output:
	// 2000000 cycles used: 0.009000000000000000
	// 1000000 cycles used: 0.008000000000000000
	// 0 cycles used: 0.007000000000000000
}

// A timer is taken if the size of its limits fits what the fires before it left. Those use less than they may as a rule, so that
// more of them fit than their limits suggest.
func ExampleBudget() {
	budget := market.Budget{Capacity: market.Capacity{Cycles: 300_000, Cells: 300_000}}
	for budget.Fits(budget.Size(100_000, 1_000)) {
		budget.Spend(60_000, 200)
	}
	fmt.Println(budget.Fires, "fires used", budget.UsedSize, "of the lane")
	fmt.Println("room for a smaller timer:", budget.Fits(60_000))
	// Output:
	// 4 fires used 240000 of the lane
	// room for a smaller timer: true
}
