package policies

import (
	"context"

	"github.com/cosmos-timers/timers/x/timers/fees"
	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// PricesOf are the prices of the block at ctx's height by the rules in force. They depend on the previous block and the
// chain's fee market, and are known before any of the block's transactions run.
func PricesOf(
	ctx context.Context, basefees fees.Basefees, rules market.Rules, config *types.TimerConfig, last *types.LaneState,
) market.Prices {
	prices := market.Prices{
		Height: types.HeightOf(ctx), Capacity: config.LaneCapacity(), Cycle: basefees.Cycle, Cell: basefees.Cell, P50: last.P50,
	}
	// Before the first block the lane basefee is the cycle basefee, as under fifo. eip1559 starts from there.
	before := market.Last{Basefee: prices.Cycle, Use: market.Use{Size: last.UsedSize, Fires: last.Fires}}
	if last.LaneBasefee != nil {
		before.Basefee = *last.LaneBasefee
	}
	prices.Lane = rules.LaneBasefee(prices.Cycle, before)
	return prices
}
