package simulation

import (
	"context"

	"github.com/cosmos/cosmos-sdk/testutil/simsx"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// setAgent clears an actor's agent: a simulated chain has no contracts to name.
func (f factory) setAgent(
	_ context.Context, data *simsx.ChainDataSource, reporter simsx.SimulationReporter,
) ([]simsx.SimAccount, *types.MsgSetAgent) {
	owner := data.AnyAccount(reporter, simsx.WithSpendableBalance())
	return []simsx.SimAccount{owner}, &types.MsgSetAgent{Sender: owner.AddressBech32}
}
