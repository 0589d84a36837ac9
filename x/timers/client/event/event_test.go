package event_test

import (
	"slices"
	"testing"

	abci "github.com/cometbft/cometbft/abci/types"
	"github.com/stretchr/testify/require"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/client/event"
	"github.com/cosmos-timers/timers/x/timers/types"
)

func TestMarkedEventsAreReadAndLeftAsTheyAre(t *testing.T) {
	fired := &types.TimerFired{Actor: "alice", Id: "3fa9", Success: true, Paid: "17", Matched: []types.WatchedKey{}}
	emitted, err := sdk.TypedEventToEvent(fired)
	require.NoError(t, err)
	for _, marks := range [][]abci.EventAttribute{
		nil, {{Key: "mode", Value: "EndBlock"}}, {{Key: "msg_index", Value: "0"}},
	} {
		marked := abci.Event(emitted)
		marked.Attributes = append(slices.Clone(marks), marked.Attributes...)
		before := slices.Clone(marked.Attributes)
		require.True(t, event.Ours(marked))
		require.Equal(t, "TimerFired", event.Kind(marked))
		read, err := event.Parse(marked)
		require.NoError(t, err)
		require.Equal(t, fired, read)
		require.Equal(t, before, marked.Attributes)
	}
}

func TestOthersAndBrokenEvents(t *testing.T) {
	require.False(t, event.Ours(abci.Event{Type: "cosmos.bank.v1beta1.EventX"}))
	_, err := event.Parse(abci.Event{Type: "timers.v1.NoSuchEvent"})
	require.Error(t, err)
	_, err = event.Parse(abci.Event{Type: "timers.v1.TimerFired", Attributes: []abci.EventAttribute{{Key: "paid", Value: "{"}}})
	require.Error(t, err)
}
