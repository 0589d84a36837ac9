package engine

import (
	"testing"

	abci "github.com/cometbft/cometbft/abci/types"
	"github.com/stretchr/testify/require"

	storetypes "cosmossdk.io/store/types"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// Rule: 6-fire-tags-last, 6-fire-tags-typed
func TestEventsAreTagged(t *testing.T) {
	typed, err := sdk.TypedEventToEvent(&types.TimerCancelled{Id: "ab", Actor: "alice"})
	require.NoError(t, err)
	fired, err := sdk.TypedEventToEvent(&types.TimerFired{DeliverId: "another"})
	require.NoError(t, err)
	// Two events share an array with room: what is added to one must not show in the other.
	shared := make([]abci.EventAttribute, 0, 8)
	shared = append(shared, abci.EventAttribute{Key: "a", Value: "1"}, abci.EventAttribute{Key: "b", Value: "2"})
	events := sdk.Events{
		{Type: "transfer", Attributes: shared[:1]},
		{Type: "transfer", Attributes: shared[:2]},
		{Type: "empty"},
		sdk.NewEvent("wasm", sdk.NewAttribute("timer_id", "forged")),
		typed,
		fired,
	}
	addTags(events, "0a", "ff")

	tags := []abci.EventAttribute{{Key: "timer_id", Value: "0a"}, {Key: "deliver_id", Value: "ff"}}
	require.Equal(t, append([]abci.EventAttribute{{Key: "a", Value: "1"}}, tags...), events[0].Attributes)
	require.Equal(t, append([]abci.EventAttribute{{Key: "a", Value: "1"}, {Key: "b", Value: "2"}}, tags...), events[1].Attributes)
	require.Equal(t, tags, events[2].Attributes)
	require.Equal(t, append([]abci.EventAttribute{{Key: "timer_id", Value: "forged"}}, tags...), events[3].Attributes)
	require.Equal(t, []abci.EventAttribute{{Key: "timer_id", Value: `"0a"`}, {Key: "deliver_id", Value: `"ff"`}},
		events[4].Attributes[len(events[4].Attributes)-2:])
	parsed, err := sdk.ParseTypedEvent(abci.Event(events[4]))
	require.NoError(t, err)
	require.Equal(t, &types.TimerCancelled{Id: "ab", Actor: "alice"}, parsed)
	parsed, err = sdk.ParseTypedEvent(abci.Event(events[5]))
	require.NoError(t, err)
	require.Equal(t, "another", parsed.(*types.TimerFired).DeliverId)

	// What an event is given later by somebody else does not reach its neighbour.
	events[0] = events[0].AppendAttributes(sdk.NewAttribute("mode", "EndBlock"))
	require.Len(t, events[1].Attributes, 4)
	require.Equal(t, "a", events[1].Attributes[0].Key)
}

// The number of allocations does not depend on that of events.
func TestTaggingAllocatesOnce(t *testing.T) {
	bank := make(sdk.Events, 400)
	allocs := testing.AllocsPerRun(10, func() {
		for i := range bank {
			bank[i] = sdk.Event{Type: "coin_spent"}
		}
		addTags(bank, "0a", "ff")
	})
	require.LessOrEqual(t, allocs, 2.0)
}

// Rule: 5.2-events-counted
func TestManyEventsAreCharged(t *testing.T) {
	for n, want := range map[int]uint64{0: 0, 16: 0, 17: 200, 116: 20_000} {
		meter := storetypes.NewGasMeter(1_000_000)
		chargeEvents(meter, make(sdk.Events, n))
		require.Equal(t, want, meter.GasConsumed(), n)
	}
}
