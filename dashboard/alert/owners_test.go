package alert_test

import (
	"context"
	"net/http/httptest"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"

	"github.com/cosmos-timers/timers/dashboard/alert"
	"github.com/cosmos-timers/timers/dashboard/store"
	"github.com/cosmos-timers/timers/x/timers/testutil/clienttest"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// TestAlerts_TroublesAreToldOnceWhileTheyStand: after a restart too, and again when they come back.
func TestAlerts_TroublesAreToldOnceWhileTheyStand(t *testing.T) {
	s, err := store.Open(context.Background(), filepath.Join(t.TempDir(), "db"))
	require.NoError(t, err)
	defer s.Close()
	webhook := &hook{}
	server := httptest.NewServer(webhook)
	defer server.Close()
	var troubles []store.Event
	height, looks := int64(0), 0
	wake := func(a *alert.Alerts, blocks int64) {
		t.Helper()
		for range blocks {
			height++
			put(t, s, height)
			ctx, cancel := context.WithCancel(context.Background())
			woken := make(chan struct{})
			done := make(chan error)
			go func() { done <- a.Run(ctx, woken) }()
			woken <- struct{}{} // The first turn is over.
			cancel()
			require.NoError(t, <-done)
		}
	}
	alerts := func() *alert.Alerts {
		return &alert.Alerts{
			Store: s, URL: server.URL, Actors: []string{"alice"}, Note: t.Logf, Pause: time.Millisecond, Client: server.Client(),
			Look: func(_ context.Context, actor string) ([]store.Event, error) {
				looks++
				require.Equal(t, "alice", actor)
				return troubles, nil
			},
		}
	}
	posted := func() (kinds []string) {
		for _, e := range webhook.got {
			kinds = append(kinds, e.Kind+" "+e.Timer)
		}
		webhook.got = nil
		return kinds
	}
	a := alerts()
	overdue, dry := store.Event{Kind: "overdue", Timer: "a", Body: "{}"}, store.Event{Kind: "runs dry", Timer: "b", Body: "{}"}
	troubles = []store.Event{overdue}
	wake(a, 25)
	require.Equal(t, []string{"overdue a"}, posted())
	require.Equal(t, 3, looks, "every ten blocks")
	troubles = []store.Event{overdue, dry}
	wake(alerts(), 1)
	require.Equal(t, []string{"runs dry b"}, posted(), "after a restart")
	troubles = []store.Event{dry}
	wake(a, 11)
	troubles = []store.Event{dry, overdue}
	wake(a, 11)
	require.Equal(t, []string{"overdue a"}, posted(), "it came back")
}

// TestOwners_SayWhatNoEventSays: a timer whose turn does not come, and one whose payer runs dry.
func TestOwners_SayWhatNoEventSays(t *testing.T) {
	r := clienttest.New(t)
	place := func(label string, amount int64, trigger types.Trigger) {
		require.NoError(t, r.Chain.BeginBlock())
		_, _, err := r.Chain.Tx(&types.MsgScheduleTimer{
			Sender: r.Alice, Spec: types.TimerSpec{Call: types.TimerCall{Messages: r.Messages(r.Send(r.Alice, r.Bob, amount))}, GasLimit: 100_000, CellLimit: 1_000, Name: label, Trigger: trigger},
		})
		require.NoError(t, err)
		require.NoError(t, r.End())
	}
	place("steady", 1, types.Trigger{Interval: &types.IntervalTrigger{Every: 500}})
	owners := &alert.Owners{Timers: types.NewQueryClient(r.Ctx), Bank: banktypes.NewQueryClient(r.Ctx), Codec: r.Ctx.Codec, Registry: r.Ctx.InterfaceRegistry}
	look := func() (said []string) {
		t.Helper()
		troubles, err := owners.Look(context.Background(), r.Alice)
		require.NoError(t, err)
		for _, e := range troubles {
			require.Equal(t, r.Alice, e.Actor)
			said = append(said, e.Kind+" "+e.Name+": "+e.Why)
		}
		return said
	}
	require.Empty(t, look())
	r.Sends(r.Alice, r.Bob, 10_000_000-500)
	require.Equal(t, []string{"runs dry steady: runs dry in 2"}, look())
	r.Configure(func(c *types.TimerConfig) { c.LanePaused = true })
	place("late", 1, types.Trigger{After: 1})
	r.Blocks(3)
	require.Len(t, look(), 2)
	require.Contains(t, look()[0]+look()[1], "overdue late: its turn has not come since height")
}
