package app_test

import (
	"testing"

	dbm "github.com/cosmos/cosmos-db"
	"github.com/stretchr/testify/require"

	"cosmossdk.io/log"
	"cosmossdk.io/store/snapshots"
	snapshottypes "cosmossdk.io/store/snapshots/types"

	"github.com/cosmos/cosmos-sdk/baseapp"
	simtestutil "github.com/cosmos/cosmos-sdk/testutil/sims"

	"github.com/cosmos-timers/timers/app"
	"github.com/cosmos-timers/timers/testutil/appchain"
	"github.com/cosmos-timers/timers/testutil/contracts"
)

// A node that starts from a snapshot gets the contracts' code with it, which is not part of the state, and continues as
// the others do.
func TestASnapshotCarriesTheContracts(t *testing.T) {
	withSnapshots := func() func(*baseapp.BaseApp) {
		store, err := snapshots.NewStore(dbm.NewMemDB(), t.TempDir())
		require.NoError(t, err)
		return baseapp.SetSnapshot(store, snapshottypes.SnapshotOptions{Interval: 1_000, KeepRecent: 2})
	}
	c := appchain.NewWith(t, []func(*baseapp.BaseApp){withSnapshots()}, "alice")
	c.Instantiate("alice", c.StoreCode("alice", contracts.Heartbeat), `{"every":1,"start":true}`, 1_000_000)
	height := c.App.LastBlockHeight()
	snapshot, err := c.App.SnapshotManager().Create(uint64(height))
	require.NoError(t, err)

	second := app.New(log.NewNopLogger(), dbm.NewMemDB(), nil, true, simtestutil.NewAppOptionsWithFlagHome(t.TempDir()),
		withSnapshots(), baseapp.SetChainID(appchain.ChainID))
	require.NoError(t, second.SnapshotManager().Restore(*snapshot))
	for i := range snapshot.Chunks {
		chunk, err := c.App.SnapshotManager().LoadChunk(snapshot.Height, snapshot.Format, i)
		require.NoError(t, err)
		done, err := second.SnapshotManager().RestoreChunk(chunk)
		require.NoError(t, err)
		require.Equal(t, i == snapshot.Chunks-1, done)
	}
	require.Equal(t, height, second.LastBlockHeight())
	for range 2 {
		want := c.NextBlock()
		require.Len(t, appchain.Events(want, "timers.v1.TimerFired"), 1)
		got, err := second.FinalizeBlock(c.Requests[len(c.Requests)-1])
		require.NoError(t, err)
		_, err = second.Commit()
		require.NoError(t, err)
		require.Equal(t, want.AppHash, got.AppHash)
	}
}
