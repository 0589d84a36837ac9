package genesis_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/genesis"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// rebased is a copy of a state whose chain begins with the block first.
func rebased(t *testing.T, g *types.GenesisState, first uint64) (*types.GenesisState, uint64) {
	t.Helper()
	source, back := genesis.FromState(g).Rebase(first)
	moved, err := source.Collect()
	require.NoError(t, err)
	return moved, back
}

// Rule: 2.1-later-start
func TestAChainThatGoesOnIsNotRebased(t *testing.T) {
	g := fullGenesis()
	for _, c := range []struct{ height, first uint64 }{{0, 1}, {0, 50}, {49, 50}, {49, 500}} {
		g.Height = c.height
		moved, back := rebased(t, g, c.first)
		require.Zero(t, back)
		require.Equal(t, g, moved)
	}
}

// TestARebasedStateIsValid: wherever the chain begins; and the state that was given stays as it is.
func TestARebasedStateIsValid(t *testing.T) {
	for first := uint64(1); first <= 60; first++ {
		g := fullGenesis()
		g.Height = 60
		moved, back := rebased(t, g, first)
		require.Equal(t, 61-first, back)
		require.Equal(t, first-1, moved.Height)
		require.NoError(t, genesis.Validate(moved), "first %d", first)
		want := fullGenesis()
		want.Height = 60
		require.Equal(t, want, g)
		again, back := rebased(t, moved, first)
		require.Zero(t, back)
		require.Equal(t, moved, again)
	}
}

// Rule: 2.1-earlier-start, 2.1-due-already, 2.1-dropped-history
func TestHeightsMoveBackAlike(t *testing.T) {
	g := types.NewGenesis("stake")
	g.NextSeq, g.Height = 10, 1000
	g.Config.Eip1559.AuctionActivationHeight = 1200
	g.Timers = []types.Timer{testTimer(990, 3), testTimer(1000, 2), testTimer(1001, 4), testTimer(1500, 1)}
	g.Timers[1].UnfundedSince = 995
	g.Ready = []types.ReadyEntry{{Due: 990, Seq: 1, List: 32 << 16, Price: math.LegacyZeroDec(), Other: math.LegacyZeroDec()}}
	g.Lane.HeadCursor, g.Lane.AdmitCursor = types.QueueKey{Due: 990, Seq: 3}, types.QueueKey{Due: 1000, Seq: 5}
	g.Lane.MarketSince, g.Lane.ReceiptsFrom, g.Lane.ReceiptsUnkept, g.Lane.Fairness.From = 400, 10, 400, 20
	movesBack := addGuestEpoch(g)
	g.Receipts = []types.HeightReceipts{{Height: 800}, {Height: 999}}
	unit := g.Timers[0].Actor
	g.WatchTombstones = []types.WatchTombstone{{Seq: 5, Owner: unit, Since: 990}}
	g.Fairness = []types.HeightFires{{Height: 900, Unit: unit, Fires: 1}, {Height: 1000, Unit: unit, Fires: 2}}
	for _, c := range []struct {
		first                                    uint64
		due                                      [4]uint64
		since, receipts, fires, activation, from uint64
	}{
		{1, [4]uint64{1, 1, 1, 500}, 0, 0, 0, 200, 0},
		{101, [4]uint64{90, 100, 101, 600}, 0, 1, 1, 300, 0},
		{1000, [4]uint64{989, 999, 1000, 1499}, 399, 2, 2, 1199, 19},
	} {
		t.Run(fmt.Sprint(c.first), func(t *testing.T) {
			moved, _ := rebased(t, g, c.first)
			require.Empty(t, moved.Ready)
			for i, timer := range moved.Timers {
				require.Equal(t, c.due[i], timer.Due, "timer %d", i)
				require.Equal(t, g.Timers[i].ExpiresAt-(1001-c.first), timer.ExpiresAt)
				require.Zero(t, timer.UnfundedSince)
				require.Equal(t, g.Timers[i].Id, timer.Id)
			}
			require.Equal(t, c.due[0], moved.WatchTombstones[0].Since, "as a timer that was due then")
			require.Equal(t, types.QueueKey{}, moved.Lane.HeadCursor)
			require.Equal(t, types.QueueKey{}, moved.Lane.AdmitCursor)
			require.Equal(t, c.since, moved.Lane.MarketSince)
			require.Equal(t, c.since, moved.Lane.ReceiptsUnkept)
			require.Len(t, moved.Receipts, int(c.receipts))
			require.Len(t, moved.Fairness, int(c.fires))
			require.Equal(t, c.activation, moved.Config.Eip1559.AuctionActivationHeight)
			require.Equal(t, c.from, moved.Lane.Fairness.From)
			movesBack(t, moved, c.first)
		})
	}
}

// TestRebase_NotesKeepTheirOrder: notes move back as heights do, and stay in the order of their places.
func TestRebase_NotesKeepTheirOrder(t *testing.T) {
	g := fullGenesis()
	g.Height = 60
	key, owner := g.WatchNotes[0].Key, g.WatchNotes[1].Owner
	g.WatchNotes = []types.KeyWatchNote{
		{Key: key, Owner: owner, Served: 3, Note: types.WatchNote{Since: 55, Height: 58, Itself: 57}},
		{Key: types.WatchKey{Store: "a", Prefix: []byte{1}}, Owner: owner, Served: 20, Note: types.WatchNote{Since: 20, Height: 20}},
	}
	moved, back := rebased(t, g, 11)
	require.Equal(t, uint64(50), back)
	require.NoError(t, genesis.Validate(moved))
	require.Equal(t, types.WatchNote{Since: 5, Height: 8, Itself: 7}, moved.WatchNotes[1].Note)
	require.Equal(t, uint64(1), moved.WatchNotes[0].Served)
	require.Equal(t, "a", moved.WatchNotes[0].Key.Store, "both were served before the first block")
	require.Equal(t, uint64(1), moved.WatchCounts[0].Served)
}
