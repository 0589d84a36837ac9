package app_test

import (
	"context"
	"flag"
	"fmt"
	"io"
	"path/filepath"
	"sync"
	"testing"

	abci "github.com/cometbft/cometbft/abci/types"
	dbm "github.com/cosmos/cosmos-db"
	"github.com/stretchr/testify/require"

	"cosmossdk.io/log"
	storetypes "cosmossdk.io/store/types"

	"github.com/cosmos/cosmos-sdk/baseapp"
	servertypes "github.com/cosmos/cosmos-sdk/server/types"
	simtestutil "github.com/cosmos/cosmos-sdk/testutil/sims"
	"github.com/cosmos/cosmos-sdk/testutil/simsx"
	simtypes "github.com/cosmos/cosmos-sdk/types/simulation"
	simcli "github.com/cosmos/cosmos-sdk/x/simulation/client/cli"

	"github.com/cosmos-timers/timers/app"
	"github.com/cosmos-timers/timers/x/timers/testutil/frozen"
	"github.com/cosmos-timers/timers/x/timers/types"
)

var (
	// seeds of the short run.
	seeds = []int64{1, 42}
	// longSims is set by `make sims-long`.
	longSims = flag.Bool("sims.long", false, "simulate with the simulator's own list of 38 seeds")
)

// init registers the simulator's flags, and makes the short run their default. It starts at one time, 2026-01-01: the flag's
// own default is the clock's, which the state holds.
func init() {
	simcli.GetSimulatorFlags()
	simcli.FlagGenesisTimeValue = 1_767_225_600
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

// recorder takes down what the blocks of an application do.
type recorder struct{ frozen.Log }

func (r *recorder) ListenFinalizeBlock(_ context.Context, request abci.RequestFinalizeBlock, response abci.ResponseFinalizeBlock) error {
	events := response.Events
	for _, result := range response.TxResults {
		events = append(events, result.Events...)
	}
	r.Block(request.Height, response.AppHash, events)
	return nil
}

func (r *recorder) ListenCommit(context.Context, abci.ResponseCommit, []*storetypes.StoreKVPair) error {
	return nil
}

// TestSimulation runs the whole application for a few blocks with random messages of all modules. The short run's blocks are
// frozen; after an intended change: go test ./app -run TestSimulation -args -frozen.update
func TestSimulation(t *testing.T) {
	if *longSims {
		simsx.Run(t, app.New, simState, holds)
		return
	}
	var recorders sync.Map
	recorded := func(l log.Logger, db dbm.DB, trace io.Writer, latest bool, opts servertypes.AppOptions, options ...func(*baseapp.BaseApp)) *app.App {
		a, r := app.New(l, db, trace, latest, opts, options...), &recorder{}
		a.SetStreamingManager(storetypes.StreamingManager{ABCIListeners: []storetypes.ABCIListener{r}})
		recorders.Store(a, r)
		return a
	}
	simsx.RunWithSeeds(t, recorded, simState, seeds, nil, holds, func(tb testing.TB, instance simsx.TestInstance[*app.App], _ []simtypes.Account) {
		tb.Helper()
		r, found := recorders.Load(instance.App)
		require.True(tb, found)
		r.(*recorder).Compare(tb, filepath.Join("testdata", fmt.Sprintf("sim%d.frozen", instance.Cfg.Seed)))
	})
}
