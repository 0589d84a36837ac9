package policy_test

import (
	"fmt"

	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/policy"
)

// What a timer bids that leaves the price to the chain follows what others pay: the usual tip, and twice the lane's fee.
func ExampleEstimate() {
	prices := policy.Prices{Lane: math.LegacyNewDecWithPrec(1, 3), P50: math.LegacyNewDecWithPrec(2, 4)}
	bid := policy.Estimate(prices, policy.Estimated, policy.Tiers{})
	fmt.Println(bid.MaxFee, bid.MaxPriority)
	// Output: 0.002000000000000000 0.000200000000000000
}
