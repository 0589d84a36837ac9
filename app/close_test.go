package app_test

import (
	"testing"

	dbm "github.com/cosmos/cosmos-db"
	"github.com/stretchr/testify/require"

	"cosmossdk.io/log"

	simtestutil "github.com/cosmos/cosmos-sdk/testutil/sims"

	"github.com/cosmos-timers/timers/app"
)

// The SDK's server closes an application twice at a clean stop: the second time goleveldb answers an error, and pebbledb panics.
func TestClose_TwiceIsOnce(t *testing.T) {
	for _, backend := range []dbm.BackendType{dbm.GoLevelDBBackend, dbm.PebbleDBBackend} {
		home := t.TempDir()
		db, err := dbm.NewDB("application", backend, home)
		require.NoError(t, err, backend)
		a := app.New(log.NewNopLogger(), db, nil, true, simtestutil.NewAppOptionsWithFlagHome(home))
		require.NoError(t, a.Close(), backend)
		require.NotPanics(t, func() { require.NoError(t, a.Close(), backend) }, backend)
	}
}
