package history

import (
	"testing"
	"time"

	abci "github.com/cometbft/cometbft/abci/types"
	gogoproto "github.com/cosmos/gogoproto/proto"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/cosmos-timers/timers/x/timers/testutil/eventtest"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// Whatever happens to a timer is found by its history, and told in words.
// Rule: 9.1-events-told
func TestWords_EveryEventOfATimer(t *testing.T) {
	searched := map[string]bool{}
	for _, of := range [][]timerEvent{endEvents, messageEvents} {
		for _, one := range of {
			searched[gogoproto.MessageName(one)] = true
		}
	}
	eventtest.Each(t, func(name protoreflect.FullName, message gogoproto.Message) {
		event, ofTimer := message.(timerEvent)
		if !ofTimer {
			return
		}
		require.True(t, searched[string(name)], "history does not look for %s", name)
		words := (&row{Type: string(name.Name()), event: event}).words(types.TimeText)
		require.NotEqual(t, [4]string{"-", "-", "-", ""}, words, "%s has no words", name)
	})
}

// A payer whose allowance refused has money enough: its balance is not told.
func TestWords_OfAnAllowanceThatRefused(t *testing.T) {
	for _, event := range []timerEvent{
		&types.TimerCancelledInsufficientFunds{Required: "800", Available: "9999998664", AllowanceRefused: true},
		&types.TimerDeferredInsufficientFunds{Required: "800", Available: "9999998664", AllowanceRefused: true},
		&types.TimerHeld{Reason: types.Suspended, Required: "800", Available: "9999998664", AllowanceRefused: true},
	} {
		require.Contains(t, (&row{event: event}).words(types.TimeText)[3], "wants 800, which its payer's fee allowance does not cover")
	}
	require.Equal(t, "wants 800, has 7", (&row{event: &types.TimerCancelledInsufficientFunds{Required: "800", Available: "7"}}).words(types.TimeText)[3])
}

// How a timer that repeats ended is told.
func TestWords_OfAnEnd(t *testing.T) {
	words := (&row{event: &types.TimerFired{Success: true, Paid: "1", Ended: types.EndOfLife, Missing: 11}}).words(types.TimeText)
	require.Equal(t, "0 cycles, 0 cells, ended: end of life, 11 fires short", words[3])
	require.Equal(t, "it was to fire until 9, 1 fire short", (&row{event: &types.TimerExpired{ExpiresAt: 9, Missing: 1}}).words(types.TimeText)[3])
}

// A delay by jitter, for which the owner asked, is no lateness.
func TestHistory_CountsLatenessFromWhenAFireWasDue(t *testing.T) {
	fired := func(occurrence, after uint64, next int64) row {
		return row{Timer: "1", event: &types.TimerFired{Success: true, Occurrence: occurrence, LateSeconds: after, NextTime: next}}
	}
	h := history{Events: []row{
		fired(4_000, 50, 0), fired(3_000, 45, 4_050), fired(2_000, 30, 3_040), fired(1_000, 20, 2_030),
	}}
	h.noteDue()
	var said []string
	for i := range h.Events {
		said = append(said, h.Events[i].words(types.TimeText)[3])
	}
	const none = "0 cycles, 0 cells"
	require.Equal(t, []string{none, none + ", 5 s late", none, none + ", 20 s after its time"}, said)
	missed := row{event: &types.TimerFired{Success: true, Occurrence: 1_000, LateSeconds: 20}, due: 2_000}
	require.Equal(t, none+", 20 s after its time", missed.words(types.TimeText)[3], "what is due later was not what fired")
}

// A transaction says which of its messages an event is of: one that makes a timer run changes it too.
func TestActs_TellARunFromAnUpdate(t *testing.T) {
	message := func(index, action string) abci.Event {
		return abci.Event{Type: "message", Attributes: []abci.EventAttribute{{Key: "action", Value: action}, {Key: "msg_index", Value: index}}}
	}
	updated := func(index string) abci.Event {
		return abci.Event{Type: "timers.v1.TimerUpdated", Attributes: []abci.EventAttribute{
			{Key: "id", Value: `"ab"`}, {Key: "actor", Value: `"me"`}, {Key: "due", Value: `"12"`}, {Key: "msg_index", Value: index},
		}}
	}
	acts, err := Acts(11, []abci.Event{
		message("0", "/timers.v1.MsgUpdateTimer"), updated("0"), message("1", "/timers.v1.MsgRunTimer"), updated("1"),
	})
	require.NoError(t, err)
	require.Len(t, acts, 2)
	require.Equal(t, "timer me/ab updated, by its owner; it goes to the back of those due at its height; next due at height 12", acts[0].Text(time.UTC))
	require.Equal(t, "timer me/ab run, by its owner: its next occurrence is due at once; next due at height 12", acts[1].Text(time.UTC))
	acts, err = Acts(11, []abci.Event{{Type: "timers.v1.TimerOfTomorrow"}, updated("1")})
	require.ErrorContains(t, err, "TimerOfTomorrow")
	require.Len(t, acts, 1, "what is known is told all the same")
	passed := row{event: &types.TimerOccurrencesSkipped{First: 1_800_000_000, Last: 1_800_086_400, Count: 2, Reason: types.SkipRequested, NextTime: 1_800_172_800}}
	require.Equal(t, "2 occurrences: 2027-01-15T08:00:00Z to 2027-01-16T08:00:00Z", passed.words(types.TimeText)[3])
}
