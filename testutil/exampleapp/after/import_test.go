package app_test

import (
	"encoding/json"
	"fmt"
	"testing"

	dbm "github.com/cosmos/cosmos-db"
	"github.com/stretchr/testify/require"

	"github.com/cosmos-timers/timers/testutil/exampleapp/chain"
	timerskeeper "github.com/cosmos-timers/timers/x/timers/keeper"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// busy is a chain with timers that are pending near and far, repeat, are ready in a lane that is paused, or on hold, with
// receipts and a fairness window.
func busy(t *testing.T) *example {
	t.Helper()
	a := newApp(t, dbm.NewMemDB(), t.TempDir())
	c := chain.Start(t, a, chain.Genesis(t, a, change(t, a, func(*types.GenesisState) {}), "alice", "bob"), 0)
	c.Block()
	for range 30 {
		c.Block()
	}
	height := uint64(c.App.LastBlockHeight())
	c.Deliver("alice", timer(t, types.Trigger{Height: height + 2}, 1)) // fires, and leaves a receipt
	require.Len(t, fires(t, c), 1)
	pause(t, c, true)
	c.Block()
	paused := c.Deliver("alice", timer(t, types.Trigger{Height: height + 100}, 2))
	c.Deliver("alice", &types.MsgPauseTimer{Sender: chain.Address("alice").String(), Id: chain.Events(paused, "timers.v1.TimerScheduled")[0]["id"]})
	c.Deliver("alice", timer(t, types.Trigger{Height: height + 7}, 3)) // ready when the state is exported
	c.Deliver("alice", timer(t, types.Trigger{Height: height + 8}, 4))
	c.Deliver("alice", timer(t, types.Trigger{Height: height + 20}, 5))
	c.Deliver("alice", timer(t, types.Trigger{Height: height + 40_000}, 6))
	interval := timer(t, types.Trigger{Interval: &types.IntervalTrigger{Every: 4, First: height + 12}}, 7)
	interval.Spec.ExpiresAt = height + 30
	c.Deliver("alice", interval)
	for uint64(c.App.LastBlockHeight()) < height+10 {
		c.Block()
	}
	pause(t, c, false)
	return c
}

// pause stops the lane or starts it again, as governance does, from the next block on.
func pause(t *testing.T, c *example, paused bool) {
	t.Helper()
	config, err := c.App.Timers.Keeper.Config(c.Ctx())
	require.NoError(t, err)
	config.LanePaused = paused
	msg, err := c.App.Timers.Keeper.ReplaceConfig(c.Ctx(), config)
	require.NoError(t, err)
	_, err = timerskeeper.NewMsgServer(c.App.Timers.Keeper).UpdateTimerConfig(c.Ctx(), msg)
	require.NoError(t, err)
}

// TestAStateIsImportedAtAnyHeight: what was to happen in so many blocks happens in so many blocks, whether the chain goes
// on or back.
//
// Rule: 2.1-height-stated, 2.1-earlier-start, 2.1-due-already
func TestAStateIsImportedAtAnyHeight(t *testing.T) {
	c := busy(t)
	last := c.App.LastBlockHeight()
	exported, err := c.App.ExportAppStateAndValidators(false, nil, nil)
	require.NoError(t, err)
	// Amounts that fire in each block from the next one on, of a chain that continues without an export.
	var want []string
	for range 22 {
		want = append(want, sums(t, c))
	}
	require.Equal(t, "3,4", want[0], "overdue timers fire first, in order")
	for _, first := range []int64{0, 1, 7, last, last + 1} {
		t.Run(fmt.Sprint(first), func(t *testing.T) {
			next := chain.Start(t, newApp(t, dbm.NewMemDB(), t.TempDir()), exported.AppState, first)
			back := last + 1 - max(first, 1)
			require.Equal(t, want[0], sums(t, next))
			genesis := state(t, next)
			require.Equal(t, uint64(max(first, 1)), genesis.Height)
			far := genesis.Timers[len(genesis.Timers)-2]
			require.EqualValues(t, 31+40_000-back, far.Due, "the far one")
			for i := 1; i < len(want); i++ {
				require.Equal(t, want[i], sums(t, next), "block %d", i)
			}
		})
	}
}

// sums are the amounts that the fires of the next block sent.
func sums(t *testing.T, c *example) string {
	t.Helper()
	response := c.Block()
	require.NoError(t, c.App.Timers.Keeper.CheckInvariants(c.Ctx()))
	var all string
	for _, fire := range chain.Events(response, "timers.v1.TimerFired") {
		require.Equal(t, "true", fire["success"], fire)
	}
	for _, sent := range chain.Events(response, "transfer") {
		if sent["recipient"] == chain.Address("bob").String() {
			all += "," + sent["amount"][:len(sent["amount"])-len(chain.Denom)]
		}
	}
	if all != "" {
		all = all[1:]
	}
	return all
}

func state(t *testing.T, c *example) (genesis types.GenesisState) {
	t.Helper()
	exported, err := c.App.ExportAppStateAndValidators(false, nil, []string{types.ModuleName})
	require.NoError(t, err)
	var all map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(exported.AppState, &all))
	c.App.AppCodec().MustUnmarshalJSON(all[types.ModuleName], &genesis)
	return genesis
}
