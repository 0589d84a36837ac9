package fees_test

import (
	"fmt"

	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/fees"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// A chain gives the source to the timers' keeper, as keeper.WithBasefeeSource. Its fee market stands here for one whose price
// of gas is 0.0025.
func ExampleFromBaseFee() {
	source := fees.FromBaseFee(market{price: math.LegacyNewDecWithPrec(25, 4)})
	config := types.DefaultTimerConfig("uatom")
	cycle, cell, err := source.Basefees(sdk.Context{}, &config)
	fmt.Println(cycle, cell, err)
	// Output: 0.002500000000000000 0.075000000000000000 <nil>
}
