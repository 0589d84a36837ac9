package app_test

import (
	"flag"
	"testing"

	"github.com/stretchr/testify/require"

	simtestutil "github.com/cosmos/cosmos-sdk/testutil/sims"
	"github.com/cosmos/cosmos-sdk/testutil/simsx"
	simtypes "github.com/cosmos/cosmos-sdk/types/simulation"
	simcli "github.com/cosmos/cosmos-sdk/x/simulation/client/cli"

	"github.com/cosmos-timers/timers/app"
	"github.com/cosmos-timers/timers/x/timers/types"
)

var (
	// seeds of the short run.
	seeds = []int64{1, 42}
	// longSims is set by `make sims-long`.
	longSims = flag.Bool("sims.long", false, "simulate with the simulator's own list of 38 seeds")
)

// init registers the simulator's flags, and makes the short run their default.
func init() {
	simcli.GetSimulatorFlags()
	simcli.FlagNumBlocksValue, simcli.FlagBlockSizeValue = 20, 60
}

func simState(a *app.App) simsx.SimStateFactory {
	return simsx.SimStateFactory{
		Codec:         a.AppCodec(),
		AppStateFn:    simtestutil.AppStateFn(a.AppCodec(), a.SimulationManager(), a.DefaultGenesis()),
		BlockedAddr:   app.BlockedAddresses(),
		AccountSource: a.Accounts,
		BalanceSource: a.Bank,
	}
}

// holds requires that the run used timers and left the module's state sound.
func holds(tb testing.TB, instance simsx.TestInstance[*app.App], _ []simtypes.Account) {
	tb.Helper()
	ctx := instance.App.NewContextLegacy(true, instance.App.BaseApp.NewContext(true).BlockHeader())
	require.NoError(tb, instance.App.Timers.CheckInvariants(ctx.WithBlockHeight(instance.App.LastBlockHeight())))
	genesis, err := instance.App.Timers.ExportGenesis(ctx)
	require.NoError(tb, err)
	require.NoError(tb, instance.App.Timers.ValidateGenesis(genesis))
	require.Greater(tb, genesis.NextSeq, uint64(1), "the run scheduled no timer")
	require.True(tb, genesis.Lane.Burned.IsPositive(), "the run fired no timer")
	exported, err := instance.App.ExportAppStateAndValidators(false, nil, []string{types.ModuleName})
	require.NoError(tb, err)
	require.NotEmpty(tb, exported.AppState)
}

// TestSimulation runs the whole application for a few blocks with random messages of all modules.
func TestSimulation(t *testing.T) {
	if *longSims {
		simsx.Run(t, app.New, simState, holds)
		return
	}
	simsx.RunWithSeeds(t, app.New, simState, seeds, nil, holds)
}
