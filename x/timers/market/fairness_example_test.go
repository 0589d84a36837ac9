package market_test

import (
	"fmt"

	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/market"
)

// An actor that did not fire lately weighs most. Each median's worth of fires takes a weight of one from it, down to
// the least. Weights are counted in sixteenths.
func ExampleWeightBounds_Weight() {
	bounds := market.WeightBounds{Min: 1 * market.OneWeight, Max: 2 * market.OneWeight}
	median := math.LegacyNewDec(8)
	for _, fires := range []uint64{0, 2, 4, 8, 100} {
		fmt.Printf("%d fires: %d/16\n", fires, bounds.Weight(fires, median))
	}
	// Output:
	// 0 fires: 32/16
	// 2 fires: 28/16
	// 4 fires: 24/16
	// 8 fires: 16/16
	// 100 fires: 16/16
}

// A burst of fires moves the median of one block from 4 to 20. With α = 0.25 the weights see a quarter of that.
func ExampleSmoothMedian() {
	alpha := math.LegacyMustNewDecFromStr("0.25")
	fmt.Println(market.SmoothMedian(alpha, 20, math.LegacyNewDec(4)))
	// Output: 8.000000000000000000
}
