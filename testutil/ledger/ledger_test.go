package ledger_test

import (
	"maps"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosmos-timers/timers/testutil/ledger"
)

type attributes = map[string]string

func event(kind string, a attributes) ledger.Event {
	return ledger.Event{Type: "timers.v1." + kind, Attributes: a}
}

func scheduled(id string) ledger.Event {
	return event("TimerScheduled", attributes{"id": id, "actor": "alice", "due": "12", "expires_at": "20"})
}

// fired is a fire of timer a, with changes.
func fired(changes attributes) ledger.Event {
	a := attributes{
		"id": "a", "deliver_id": "d0", "success": "true", "fire_seq": "0", "next_due": "0", "paid": "100", "tip": "10", "refunded": "7",
	}
	maps.Copy(a, changes)
	return event("TimerFired", a)
}

// book is a ledger at height 11 with timer a, due at 12 and expiring after 20.
func book(t *testing.T) *ledger.Ledger {
	t.Helper()
	l := &ledger.Ledger{}
	require.NoError(t, l.Block(10, []ledger.Event{scheduled("a"), {Type: "transfer"}}))
	require.NoError(t, l.Block(11, nil))
	return l
}

// Of a timer with occurrences none is delivered twice or after a later one, unless it is tried again.
func TestLedger_OccurrencesComeInOrder(t *testing.T) {
	fire := func(l *ledger.Ledger, height uint64, seq, occurrence, retries string) error {
		return l.Block(height, []ledger.Event{fired(attributes{
			"deliver_id": "d" + seq, "fire_seq": seq, "next_due": "13", "occurrence": occurrence, "retries": retries,
		})})
	}
	l := book(t)
	require.NoError(t, fire(l, 12, "0", "100", "1"))
	require.NoError(t, fire(l, 13, "1", "100", "0"))
	require.NoError(t, fire(l, 14, "2", "160", "0"))
	require.ErrorContains(t, fire(l, 15, "3", "160", "0"), "a delivers occurrence 160 after 160")
	require.ErrorContains(t, fire(l, 16, "4", "100", "0"), "a delivers occurrence 100 after 160")
}

func TestALedgerFollowsATimerFromItsScheduleToItsEnd(t *testing.T) {
	l := book(t)
	require.NoError(t, l.Is([]string{"a"}))
	require.NoError(t, l.Block(12, []ledger.Event{
		fired(attributes{"next_due": "14"}),
		event("TimerAgentBilled", attributes{"id": "a", "paid": "5"}),
		event("TimerLaneSummary", attributes{"burned": "95", "tips": "10", "fired": "1"}),
	}))
	timer, live := l.Find("a")
	require.True(t, live)
	require.Equal(t, ledger.Timer{ID: "a", Actor: "alice", Owner: "alice", Scheduled: 10, Expires: 20, Due: 14, Fires: 1}, timer)
	require.NoError(t, l.Block(13, []ledger.Event{
		event("TimerExtended", attributes{"id": "a", "expires_at": "30"}),
		event("TimerHeld", attributes{"id": "a"}), event("TimerReleased", attributes{"id": "a", "due": "14"}),
		event("TimerUpdated", attributes{"id": "a"}),
	}))
	require.NoError(t, l.Block(14, []ledger.Event{fired(attributes{"deliver_id": "d1", "fire_seq": "1", "success": "false"})}))
	require.NoError(t, l.Is(nil))
	require.Empty(t, l.Live())
	require.Equal(t, ledger.Counts{Scheduled: 1, Fired: 2, Failed: 1, OnHold: 1, Released: 1, Left: 1}, l.Counts)
}

// A handler may cancel its own timer: the event of that comes before the event of the fire.
func TestATimerMayCancelItself(t *testing.T) {
	l := book(t)
	cancelled := event("TimerCancelled", attributes{"id": "a"})
	require.NoError(t, l.Block(12, []ledger.Event{cancelled, fired(nil)}))
	require.NoError(t, l.Is(nil))
	require.Equal(t, ledger.Counts{Scheduled: 1, Fired: 1, Cancelled: 1, Left: 1}, l.Counts)

	require.ErrorContains(t, book(t).Block(12, []ledger.Event{cancelled, fired(attributes{"next_due": "13"})}), "has left")
	require.ErrorContains(t, book(t).Block(12, []ledger.Event{cancelled, fired(attributes{"success": "false"})}), "has left",
		"a failed handler has cancelled nothing")
	require.ErrorContains(t, book(t).Block(12, []ledger.Event{cancelled, fired(nil), fired(attributes{"deliver_id": "d1"})}), "has left")
}

func TestWhatABidPaysIsTipped(t *testing.T) {
	require.NoError(t, book(t).Block(12, []ledger.Event{
		fired(nil), event("TimerBidSettled", attributes{"id": "a", "paid": "500"}),
		event("TimerLaneSummary", attributes{"burned": "90", "tips": "510", "fired": "1"}),
	}))
}

// Each entry contradicts what came before, and the ledger says so.
func TestALedgerRefusesWhatContradictsIt(t *testing.T) {
	for name, c := range map[string]struct {
		height uint64
		events []ledger.Event
		want   string
	}{
		"a gap":                 {13, nil, "block 13 follows block 11"},
		"scheduled twice":       {12, []ledger.Event{scheduled("a")}, "a was scheduled before"},
		"never scheduled":       {12, []ledger.Event{fired(attributes{"id": "b"})}, "b was never scheduled"},
		"fires in its block":    {12, []ledger.Event{scheduled("b"), fired(attributes{"id": "b"})}, "b, scheduled at 12"},
		"leaves twice":          {12, []ledger.Event{fired(nil), event("TimerCancelled", attributes{"id": "a"})}, "a has left by TimerFired at 12"},
		"delivered twice":       {12, []ledger.Event{fired(attributes{"next_due": "12"}), fired(attributes{"fire_seq": "1"})}, "delivery d0 happened before"},
		"a delivery left out":   {12, []ledger.Event{fired(attributes{"fire_seq": "1"})}, "a has delivery 1 after 0 deliveries"},
		"too early":             {12, []ledger.Event{event("TimerReleased", attributes{"id": "a", "due": "13"}), fired(nil)}, "a, scheduled at 10, is due at 13"},
		"expires early":         {12, []ledger.Event{event("TimerExpired", attributes{"id": "a"})}, "a may fire until 20"},
		"changed when gone":     {12, []ledger.Event{fired(nil), event("TimerUpdated", attributes{"id": "a"})}, "a has left by"},
		"a negative refund":     {12, []ledger.Event{fired(attributes{"refunded": "-1"})}, `refunded "-1"`},
		"no amount":             {12, []ledger.Event{fired(attributes{"paid": ""})}, `paid ""`},
		"a tip above the price": {12, []ledger.Event{fired(attributes{"tip": "101"})}, `tip "101"`},
		"a bill below nothing":  {12, []ledger.Event{event("TimerAgentBilled", attributes{"paid": "-5"})}, `paid "-5"`},
		"the step failed":       {12, []ledger.Event{event("TimerLaneFailed", attributes{"codespace": "timers", "code": "51"})}, "the step failed: timers 51"},
		"the sums differ": {12, []ledger.Event{
			fired(nil), event("TimerLaneSummary", attributes{"burned": "91", "tips": "10", "fired": "1"}),
		}, "[90 10 1], the summary says [91 10 1]"},
		"two summaries": {12, []ledger.Event{
			event("TimerLaneSummary", attributes{"burned": "0", "tips": "0", "fired": "0"}), event("TimerLaneSummary", nil),
		}, "a second summary"},
	} {
		t.Run(name, func(t *testing.T) {
			require.ErrorContains(t, book(t).Block(c.height, c.events), c.want)
		})
	}
	late := book(t)
	for height := uint64(12); height <= 20; height++ {
		require.NoError(t, late.Block(height, nil))
	}
	require.ErrorContains(t, late.Block(21, []ledger.Event{fired(nil)}), "expires after 20")
	require.ErrorContains(t, book(t).Is(nil), "a is lost")
	require.ErrorContains(t, book(t).Is([]string{"a", "b"}), "should not be: b was never scheduled")
}
