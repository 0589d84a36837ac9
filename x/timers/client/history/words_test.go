package history

import (
	"testing"

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
