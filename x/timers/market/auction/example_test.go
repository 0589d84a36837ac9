package auction_test

import (
	"fmt"

	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/market/auction"
)

// A bid counts per unit of gas, and waiting counts as bidding: at a λ of 0.1, a wait of 60 blocks is worth e^6, about 403.
func ExampleRules_Order() {
	rules := auction.Rules{Lambda: math.LegacyNewDecWithPrec(1, 1), Reserve: math.ZeroInt()}
	candidates := []market.Candidate{
		{ID: "bids 400 for much gas", Due: 100, Seq: 1, Size: 200_000, Locked: math.NewInt(400)},
		{ID: "bids 300", Due: 100, Seq: 2, Size: 100_000, Locked: math.NewInt(300)},
		{ID: "bids nothing, and waited", Due: 40, Seq: 3, Size: 100_000},
	}
	for _, i := range rules.Order(market.Prices{Height: 100}, candidates) {
		fmt.Println(candidates[i].ID)
	}
	// Output:
	// bids nothing, and waited
	// bids 300
	// bids 400 for much gas
}
