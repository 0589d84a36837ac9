package eip1559_test

import (
	"fmt"

	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/policy"
	"github.com/cosmos-timers/timers/x/timers/policy/eip1559"
)

// Tip times weight decides. A weight is in sixteenths: 32 doubles a tip. The lane's fee is 10 a cycle, so that a max fee of
// 11 leaves a tip of 1, and one of 9 is priced out.
func ExampleRules_Order() {
	rules := eip1559.Rules{Multiplier: math.LegacyOneDec()}
	prices := policy.Prices{Lane: math.LegacyNewDec(10)}
	stated := func(maxFee, maxPriority int64) policy.Ask {
		return policy.StatedAsk(math.LegacyNewDec(maxFee), math.LegacyNewDec(maxPriority))
	}
	candidates := []policy.Candidate{
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
