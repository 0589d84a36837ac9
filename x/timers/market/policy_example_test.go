package market_test

import (
	"fmt"

	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/market"
)

// What a timer bids that leaves the price to the chain follows what others pay: the usual tip, and twice the lane's fee.
func ExampleEstimate() {
	prices := market.Prices{Lane: math.LegacyNewDecWithPrec(1, 3), P50: math.LegacyNewDecWithPrec(2, 4)}
	bid := market.Estimate(prices, market.Estimated, market.Tiers{})
	fmt.Println(bid.MaxFee, bid.MaxPriority)
	// Output: 0.002000000000000000 0.000200000000000000
}
