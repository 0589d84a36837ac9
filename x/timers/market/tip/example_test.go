package tip_test

import (
	"fmt"

	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/market/tip"
)

// The tip decides, and a weight decides between equal tips alone. The chain's basefee is 10 a cycle, so that a max fee of 11
// leaves a tip of 1. A timer without funds does not compete.
func ExampleRules_Order() {
	prices := market.Prices{Cycle: math.LegacyNewDec(10)}
	stated := func(maxFee, maxPriority int64) market.Ask {
		return market.StatedAsk(math.LegacyNewDec(maxFee), math.LegacyNewDec(maxPriority))
	}
	candidates := []market.Candidate{
		{ID: "what the fee leaves", Ask: stated(11, 5), Weight: 900_000, Due: 1, Seq: 1},
		{ID: "a tip of 2", Ask: stated(20, 2), Weight: 100_000, Due: 1, Seq: 2},
		{ID: "a tip of 2, and more weight", Ask: stated(20, 2), Weight: 500_000, Due: 1, Seq: 3},
		{ID: "no funds", Ask: stated(20, 9), Weight: 500_000, Due: 1, Seq: 4, Unfunded: true},
	}
	for _, i := range (tip.Rules{}).Order(prices, candidates) {
		fmt.Println(candidates[i].ID)
	}
	// Output:
	// a tip of 2, and more weight
	// a tip of 2
	// what the fee leaves
}
