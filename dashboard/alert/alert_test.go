package alert_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cosmos/gogoproto/proto"
	"github.com/stretchr/testify/require"

	"github.com/cosmos-timers/timers/dashboard/alert"
	"github.com/cosmos-timers/timers/dashboard/follow"
	"github.com/cosmos-timers/timers/dashboard/store"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// hook is a webhook that refuses some requests before it takes any.
type hook struct {
	refuse int
	got    []store.Event
}

func (h *hook) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if h.refuse > 0 {
		h.refuse--
		http.Error(w, "not now", http.StatusServiceUnavailable)
		return
	}
	var body struct {
		Chain  string        `json:"chain_id"`
		Events []store.Event `json:"events"`
	}
	if json.NewDecoder(r.Body).Decode(&body) == nil {
		h.got = append(h.got, body.Events...)
	}
}

func put(t *testing.T, s *store.Store, height int64, events ...store.Event) {
	t.Helper()
	for i := range events {
		events[i].Body = "{}"
	}
	require.NoError(t, s.Put(context.Background(), &store.Block{Height: height}, events))
}

func TestAlertsTellWhatConcernsAnActorOnce(t *testing.T) {
	ctx, file := context.Background(), filepath.Join(t.TempDir(), "db")
	s, err := store.Open(ctx, file)
	require.NoError(t, err)
	defer s.Close()
	webhook := &hook{}
	server := httptest.NewServer(webhook)
	defer server.Close()
	alerts := func() *alert.Alerts {
		return &alert.Alerts{Store: s, URL: server.URL, Actors: []string{"alice"}, Note: t.Logf, Pause: time.Millisecond, Client: server.Client()}
	}
	put(t, s, 1, store.Event{Kind: "failed", Actor: "alice", Timer: "long past"})
	more, err := alerts().Once(ctx)
	require.NoError(t, err)
	require.False(t, more)
	put(t, s, 2, store.Event{Kind: "failed", Actor: "alice", Timer: "a"}, store.Event{Kind: "fired", Actor: "alice", Timer: "b"},
		store.Event{Kind: "expired", Actor: "bob", Timer: "c"})
	put(t, s, 3, store.Event{Kind: "unfunded", Actor: "alice", Timer: "d"})
	webhook.refuse = 3
	_, err = alerts().Once(ctx)
	require.NoError(t, err)
	// After a restart nothing is posted again.
	_, err = alerts().Once(ctx)
	require.NoError(t, err)
	var timers []string
	for _, e := range webhook.got {
		timers = append(timers, e.Timer)
	}
	require.Equal(t, []string{"a", "d"}, timers)
}

// TestEachKindOfTroubleIsTold: the kinds are those that events of the module are stored under.
func TestEachKindOfTroubleIsTold(t *testing.T) {
	ctx := context.Background()
	s, err := store.Open(ctx, filepath.Join(t.TempDir(), "db"))
	require.NoError(t, err)
	defer s.Close()
	webhook := &hook{}
	server := httptest.NewServer(webhook)
	defer server.Close()
	a := &alert.Alerts{Store: s, URL: server.URL, Note: t.Logf, Pause: time.Millisecond, Client: server.Client()}
	put(t, s, 1)
	_, err = a.Once(ctx)
	require.NoError(t, err)
	var events []store.Event
	for _, message := range []proto.Message{
		&types.TimerFired{Actor: "fired", Success: true}, &types.TimerFired{Actor: "failed"},
		&types.TimerFired{Actor: "fired", Success: true, Ended: types.EndOfLife, Missing: 11},
		&types.TimerCancelledInsufficientFunds{Actor: "unfunded"}, &types.TimerDeferredInsufficientFunds{Actor: "waits for funds"},
		&types.TimerOccurrencesSkipped{Actor: "missed", Count: 2, Reason: types.SkipWindow}, &types.TimerOccurrencesSkipped{Actor: "skipped", Reason: types.SkipRequested},
		&types.TimerFired{Actor: "guarded", Guarded: true}, &types.TimerExpired{Actor: "expired"}, &types.TimerCancelled{Actor: "cancelled"},
		&types.TimerHeld{Actor: "on hold: paused", Reason: types.Paused},
		&types.TimerHeld{Actor: "on hold: unfunded", Reason: types.Unfunded},
		&types.TimerHeld{Actor: "on hold: suspended", Reason: types.Suspended},
		&types.TimerHeld{Actor: "on hold: quarantined", Reason: types.Quarantined},
		&types.TimerHeld{Actor: "on hold: not_admin", Reason: types.NotAdmin}, &types.TimerCancelledNotAdmin{Actor: "cancelled not admin"},
	} {
		name := proto.MessageName(message)
		events = append(events, follow.Describe(name[strings.LastIndexByte(name, '.')+1:], message))
	}
	require.NoError(t, s.Put(ctx, &store.Block{Height: 2}, events))
	_, err = a.Once(ctx)
	require.NoError(t, err)
	var posted []string
	for _, e := range webhook.got {
		require.Equal(t, e.Kind, e.Actor)
		posted = append(posted, e.Kind)
	}
	require.Equal(t, "ended: end of life, 11 fires short", webhook.got[1].Why)
	require.Equal(t, []string{
		"failed", "fired", "unfunded", "waits for funds", "missed", "expired", "cancelled", "on hold: unfunded", "on hold: suspended", "on hold: quarantined",
		"on hold: not_admin", "cancelled not admin",
	}, posted)
}

// TestABlockLargerThanABatchIsToldWhole: nothing is cut.
func TestABlockLargerThanABatchIsToldWhole(t *testing.T) {
	ctx := context.Background()
	s, err := store.Open(ctx, filepath.Join(t.TempDir(), "db"))
	require.NoError(t, err)
	defer s.Close()
	webhook := &hook{}
	server := httptest.NewServer(webhook)
	defer server.Close()
	a := &alert.Alerts{Store: s, URL: server.URL, Note: t.Logf, Pause: time.Millisecond, Client: server.Client()}
	put(t, s, 1)
	_, err = a.Once(ctx)
	require.NoError(t, err)
	var events []store.Event
	for i := range 1_234 {
		events = append(events, store.Event{Kind: "expired", Actor: "alice", Timer: fmt.Sprint(i)})
	}
	put(t, s, 2, events...)
	for more := true; more; {
		more, err = a.Once(ctx)
		require.NoError(t, err)
	}
	require.Len(t, webhook.got, 1_234)
	require.Equal(t, "1233", webhook.got[1_233].Timer)
}

// TestAlerts_OfARowTellItsBeginningAndEnd: of failures in a row the first is posted, then the success that ends them, and how the
// timer ended. A restart changes nothing; a post that was given up is made up for by the next failure.
func TestAlerts_OfARowTellItsBeginningAndEnd(t *testing.T) {
	ctx := context.Background()
	s, err := store.Open(ctx, filepath.Join(t.TempDir(), "db"))
	require.NoError(t, err)
	defer s.Close()
	webhook := &hook{}
	server := httptest.NewServer(webhook)
	defer server.Close()
	height := int64(0)
	event := func(kind, timer string) store.Event { return store.Event{Kind: kind, Timer: timer, Actor: "alice"} }
	posted := func(kinds ...string) (told []string) {
		t.Helper()
		for _, kind := range kinds {
			height++
			put(t, s, height, event(kind, "a"), event("fired", "b"))
			webhook.got = nil
			a := &alert.Alerts{Store: s, URL: server.URL, Note: t.Logf, Pause: time.Nanosecond, Client: server.Client()}
			_, err := a.Once(ctx)
			require.NoError(t, err)
			for _, e := range webhook.got {
				told = append(told, strings.TrimSuffix(fmt.Sprintf("%d %s %s: %s", e.Height, e.Timer, e.Kind, e.Why), ": "))
			}
		}
		return told
	}
	require.Empty(t, posted("failed"), "what is long past")
	require.Equal(t, []string{"2 a failed", "6 a fired: it fires again"}, posted("failed", "failed", "guarded", "failed", "fired", "fired"))
	require.Equal(t, []string{"8 a missed", "10 a failed", "13 a fired: it fires again"},
		posted("missed", "missed", "failed", "missed", "failed", "fired"), "one row of each kind")
	webhook.refuse = 8
	require.Empty(t, posted("failed"))
	require.Equal(t, []string{"15 a failed", "17 a cancelled"}, posted("failed", "failed", "cancelled"))

	// In one batch, and with the end of its life.
	ended, err := json.Marshal(&types.TimerFired{Id: "c", Ended: types.EndFailed})
	require.NoError(t, err)
	webhook.got = nil
	for _, body := range []string{"{}", "{}", string(ended)} {
		height++
		last := event("failed", "c")
		last.Body = body
		require.NoError(t, s.Put(ctx, &store.Block{Height: height}, []store.Event{last}))
	}
	a := &alert.Alerts{Store: s, URL: server.URL, Note: t.Logf, Pause: time.Nanosecond, Client: server.Client()}
	_, err = a.Once(ctx)
	require.NoError(t, err)
	require.Len(t, webhook.got, 2)
	require.Equal(t, []int64{height - 2, height}, []int64{webhook.got[0].Height, webhook.got[1].Height})
}
