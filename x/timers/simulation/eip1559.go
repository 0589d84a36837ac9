package simulation

import (
	"github.com/cosmos/cosmos-sdk/testutil/simsx"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// drawMarket draws the parameters of policy eip1559: its gas limits are within those of the other policies.
func drawMarket(data *simsx.ChainDataSource, config *types.TimerConfig) {
	config.Eip1559.MaxCyclesPerFireAuction = data.Rand().Uint64InRange(80_000, config.MaxCyclesPerFire+1)
}
