package system

import (
	"context"
	"encoding/json"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cosmos-timers/timers/testutil/node"
)

// dashboard runs the command on a database until the test ends or stop is called, and returns its address.
func dashboard(ctx context.Context, t *testing.T, n *node.Node, database string) (address string, stop func()) {
	t.Helper()
	wallet := "https://wallet.example/"
	address, stop, err := n.Dashboard(ctx, "--db", database, "--interval", "100ms", "--wallet", wallet)
	require.NoError(t, err)
	t.Cleanup(stop)
	return address, stop
}

// answer reads one of the dashboard's answers.
func answer(ctx context.Context, t *testing.T, url string, into any) {
	t.Helper()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	require.NoError(t, err)
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	require.Equal(t, http.StatusOK, response.StatusCode, url)
	require.NoError(t, json.NewDecoder(response.Body).Decode(into), url)
}

// TestTheDashboardShowsALife: a timer that was scheduled, fired and left is shown with its cost after dashboard and node have
// restarted, and the dashboard holds each block once.
func TestTheDashboardShowsALife(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	n := start(ctx, t, node.Options{Accounts: []string{"alice", "bob"}}).Nodes[0]
	database := filepath.Join(t.TempDir(), "dashboard.db")
	_, stop := dashboard(ctx, t, n, database)
	alice, bob := addressOf(ctx, t, n, "alice"), addressOf(ctx, t, n, "bob")
	id, due := scheduleSoon(ctx, t, n, "alice", "--msgs", sendFile(t, alice, bob, 7))
	_, at := waitFired(ctx, t, n, due, id)
	stop()
	n.Stop()
	require.NoError(t, n.Start())
	require.NoError(t, n.WaitHeight(ctx, at+2))
	address, _ := dashboard(ctx, t, n, database)

	type event struct {
		Height                 int64
		Kind, Actor, Paid, Why string
	}
	var life struct{ Events []event }
	for len(life.Events) < 2 {
		answer(ctx, t, address+"/api/timer?id="+id, &life)
		time.Sleep(50 * time.Millisecond)
	}
	require.Len(t, life.Events, 2)
	require.Equal(t, []string{"fired", "scheduled"}, []string{life.Events[0].Kind, life.Events[1].Kind})
	require.Equal(t, at, life.Events[0].Height)
	require.Equal(t, alice, life.Events[0].Actor)
	require.NotEmpty(t, life.Events[0].Paid)

	var actor struct {
		Totals struct {
			Fired int64
			Paid  string
		}
		Timers []any
	}
	answer(ctx, t, address+"/api/actor?actor="+alice, &actor)
	require.Equal(t, int64(1), actor.Totals.Fired)
	require.Equal(t, life.Events[0].Paid, actor.Totals.Paid)
	require.Empty(t, actor.Timers)

	var series []struct{ Height, Blocks int64 }
	answer(ctx, t, address+"/api/series?blocks=400", &series)
	for i, point := range series {
		require.Equal(t, int64(i+1), point.Height, "a block is missing, or there twice")
	}
	for _, path := range []string{"status", "overview", "search?q=alice", "lane", "params", "calendar", "ready", "events", "estimate"} {
		var something json.RawMessage
		answer(ctx, t, address+"/api/"+path, &something)
	}
}
