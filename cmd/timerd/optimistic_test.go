package main

import (
	"reflect"
	"testing"

	dbm "github.com/cosmos/cosmos-db"
	"github.com/stretchr/testify/require"

	"cosmossdk.io/log"
	pruningtypes "cosmossdk.io/store/pruning/types"

	"github.com/cosmos/cosmos-sdk/client/flags"
	"github.com/cosmos/cosmos-sdk/server"
	simtestutil "github.com/cosmos/cosmos-sdk/testutil/sims"

	"github.com/cosmos-timers/timers/app"
)

// The option of app.toml reaches the application. That shows nowhere but in a field of the SDK's: results are the same.
func TestBlocksAreExecutedOptimisticallyWhereAsked(t *testing.T) {
	for _, asked := range []bool{false, true} {
		chain, is := newApp(log.NewNopLogger(), dbm.NewMemDB(), nil, simtestutil.AppOptionsMap{
			flags.FlagHome: t.TempDir(), flags.FlagChainID: "optimistic-1", server.FlagPruning: pruningtypes.PruningOptionDefault,
			optionOptimistic: asked,
		}).(*app.App)
		require.True(t, is)
		require.Equal(t, asked, !reflect.ValueOf(chain.BaseApp).Elem().FieldByName("optimisticExec").IsNil())
		require.NoError(t, chain.Close())
	}
}
