package market_test

import (
	"fmt"

	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/market"
)

// Tip times weight decides. A weight is in sixteenths: 32 doubles a tip. The lane's fee is 10 a cycle, so that a max fee of
// 11 leaves a tip of 1, and one of 9 is priced out.
func ExampleEIP1559_Order() {
	rules := market.EIP1559{Multiplier: math.LegacyOneDec()}
	prices := market.Prices{Lane: math.LegacyNewDec(10)}
	stated := func(maxFee, maxPriority int64) market.Ask {
		return market.StatedAsk(math.LegacyNewDec(maxFee), math.LegacyNewDec(maxPriority))
	}
	candidates := []market.Candidate{
		{ID: "priced out", Ask: stated(9, 9), Weight: 32, Due: 1, Seq: 1},
		{ID: "what the fee leaves", Ask: stated(11, 5), Weight: 16, Due: 1, Seq: 2},
		{ID: "the largest tip", Ask: stated(20, 3), Weight: 16, Due: 1, Seq: 3},
		{ID: "a smaller tip of twice the weight", Ask: stated(20, 2), Weight: 32, Due: 1, Seq: 4},
	}
	for _, i := range rules.Order(prices, candidates) {
		fmt.Println(candidates[i].ID)
	}
	// Output:
	// a smaller tip of twice the weight
	// the largest tip
	// what the fee leaves
}
