package app_test

import (
	"encoding/hex"
	"encoding/json"
	"math/rand"
	"sync"
	"testing"
	"time"

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

// TestSimulationAfterImport: a chain that starts at height 1 from what another one exported continues under a simulation of its
// own. The SDK's test of the same name simulates after an import too, but from a state that it makes again.
func TestSimulationAfterImport(t *testing.T) {
	simsx.RunWithSeeds(t, app.New, simState, seeds, nil, func(tb testing.TB, run simsx.TestInstance[*app.App], accs []simtypes.Account) {
		tb.Helper()
		exported, err := run.App.ExportAppStateAndValidators(false, nil, nil)
		require.NoError(tb, err)
		ctx, err := run.App.CreateQueryContext(0, false)
		require.NoError(tb, err)
		before, err := run.App.Timers.Keeper.ExportGenesis(lastBlock(run.App))
		require.NoError(tb, err)
		require.NotEmpty(tb, before.Timers, "no timer is pending when the state is exported")

		fromExport := func(a *app.App) simsx.SimStateFactory {
			factory := simState(a)
			factory.AppStateFn = func(*rand.Rand, []simtypes.Account, simtypes.Config) (json.RawMessage, []simtypes.Account, string, time.Time) {
				return exported.AppState, accs, simsx.SimAppChainID, ctx.BlockTime()
			}
			return factory
		}
		simsx.RunWithSeed(tb, run.Cfg, app.New, fromExport, run.Cfg.Seed+1, nil,
			func(tb testing.TB, again simsx.TestInstance[*app.App], _ []simtypes.Account) {
				tb.Helper()
				require.Equal(tb, int64(simcli.FlagNumBlocksValue), again.App.LastBlockHeight())
				after, err := again.App.Timers.Keeper.ExportGenesis(lastBlock(again.App))
				require.NoError(tb, err)
				require.Greater(tb, after.NextSeq, before.NextSeq, "the second run scheduled no timer")
				require.True(tb, after.Lane.Burned.GT(before.Lane.Burned), "the second run fired no timer")
				require.NoError(tb, again.App.Timers.Keeper.CheckInvariants(lastBlock(again.App)))
			})
	})
}
