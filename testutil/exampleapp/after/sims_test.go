package app_test

import (
	"encoding/hex"
	"sync"
	"testing"
	"time"

	abci "github.com/cometbft/cometbft/abci/types"
	cmtproto "github.com/cometbft/cometbft/proto/tendermint/types"
	"github.com/stretchr/testify/require"

	simtestutil "github.com/cosmos/cosmos-sdk/testutil/sims"
	"github.com/cosmos/cosmos-sdk/testutil/simsx"
	sdk "github.com/cosmos/cosmos-sdk/types"
	simtypes "github.com/cosmos/cosmos-sdk/types/simulation"
	simcli "github.com/cosmos/cosmos-sdk/x/simulation/client/cli"

	app "github.com/cosmos-timers/timers/testutil/exampleapp/after"
)

// init registers the simulator's flags, and makes short runs their default.
func init() {
	simcli.GetSimulatorFlags()
	simcli.FlagNumBlocksValue, simcli.FlagBlockSizeValue = 12, 40
}

var seeds = []int64{3, 11}

func simState(a *app.App) simsx.SimStateFactory {
	return simsx.SimStateFactory{
		Codec:         a.AppCodec(),
		AppStateFn:    simtestutil.AppStateFn(a.AppCodec(), a.SimulationManager(), a.DefaultGenesis()),
		BlockedAddr:   app.BlockedAddresses(),
		AccountSource: a.AccountKeeper,
		BalanceSource: a.BankKeeper,
	}
}

func lastBlock(a *app.App) sdk.Context {
	return a.NewContextLegacy(true, cmtproto.Header{Height: a.LastBlockHeight()})
}

// TestSimulationIsDeterministic: the same seed gives the same state, and uses timers.
func TestSimulationIsDeterministic(t *testing.T) {
	var (
		lock   sync.Mutex
		hashes = map[string]int{}
	)
	twice := append(append([]int64{}, seeds...), seeds...)
	t.Run("runs", func(t *testing.T) {
		simsx.RunWithSeeds(t, app.New, simState, twice, nil, func(tb testing.TB, run simsx.TestInstance[*app.App], _ []simtypes.Account) {
			tb.Helper()
			ctx := lastBlock(run.App)
			genesis, err := run.App.Timers.Keeper.ExportGenesis(ctx)
			require.NoError(tb, err)
			require.Greater(tb, genesis.NextSeq, uint64(1), "the run scheduled no timer")
			require.True(tb, genesis.Lane.Burned.IsPositive(), "the run fired no timer")
			require.NoError(tb, run.App.Timers.Keeper.CheckInvariants(ctx))
			lock.Lock()
			defer lock.Unlock()
			hashes[hex.EncodeToString(run.App.LastCommitID().Hash)]++
		})
	})
	require.Len(t, hashes, len(seeds))
	for _, runs := range hashes {
		require.Equal(t, 2, runs)
	}
}

// TestSimulationAfterImport: a chain that starts at height 1 from what another one exported goes on, and so does the
// simulation of the SDK's test of the same name.
func TestSimulationAfterImport(t *testing.T) {
	simsx.RunWithSeeds(t, app.New, simState, seeds, nil, func(tb testing.TB, run simsx.TestInstance[*app.App], _ []simtypes.Account) {
		tb.Helper()
		exported, err := run.App.ExportAppStateAndValidators(false, nil, nil)
		require.NoError(tb, err)
		again := simsx.NewSimulationAppInstance(tb, run.Cfg, app.New)
		_, err = again.App.InitChain(&abci.RequestInitChain{AppStateBytes: exported.AppState, ChainId: simsx.SimAppChainID, Time: time.Now()})
		require.NoError(tb, err)
		for range 20 {
			_, err = again.App.FinalizeBlock(&abci.RequestFinalizeBlock{Height: again.App.LastBlockHeight() + 1, Time: time.Now()})
			require.NoError(tb, err)
			_, err = again.App.Commit()
			require.NoError(tb, err)
			require.NoError(tb, again.App.Timers.Keeper.CheckInvariants(lastBlock(again.App)))
		}
	})
}
