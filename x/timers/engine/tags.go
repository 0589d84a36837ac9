package engine

import (
	"strings"

	abci "github.com/cometbft/cometbft/abci/types"

	storetypes "cosmossdk.io/store/types"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/report"
)

// Attributes that every event of a fire carries, as those of a transaction's message carry msg_index.
const (
	attributeTimerID   = "timer_id"
	attributeDeliverID = "deliver_id"
)

const (
	// coveredEvents of a handler are paid for by FIRE_BASE_CYCLES. A send has four.
	coveredEvents = 16
	// cyclesPerEvent is what each further event takes: its attributes are copied and written once more.
	cyclesPerEvent = 200
)

// chargeEvents counts the events of a handler against its gas limit.
func chargeEvents(fire storetypes.GasMeter, emitted sdk.Events) {
	if n := len(emitted); n > coveredEvents {
		fire.ConsumeGas(cyclesPerEvent*uint64(n-coveredEvents), "events")
	}
}

// addTags adds the ids of the timer and of the delivery to the events of a fire, in place. They come last: an event
// whose attributes its emitter chooses, such as a contract, may have others of these names. In a typed event they are
// JSON, as all its attributes are, and yield to fields of these names.
func addTags(emitted sdk.Events, timerID, deliverID string) {
	tags := []abci.EventAttribute{{Key: attributeTimerID, Value: timerID}, {Key: attributeDeliverID, Value: deliverID}}
	all := len(tags) * len(emitted)
	for i := range emitted {
		all += len(emitted[i].Attributes)
	}
	// One array holds all of them: an event's own may be shared with others.
	attributes := make([]abci.EventAttribute, 0, all)
	for i := range emitted {
		event, first := &emitted[i], len(attributes)
		attributes = append(attributes, event.Attributes...)
		for _, tag := range tags {
			if isTyped(event) {
				if _, has := event.GetAttribute(tag.Key); has {
					continue
				}
				tag.Value = report.JSONString(tag.Value)
			}
			attributes = append(attributes, tag)
		}
		event.Attributes = attributes[first:len(attributes):len(attributes)]
	}
}

// isTyped reports whether an event is named as a protobuf message: those of a package have a dot.
func isTyped(event *sdk.Event) bool { return strings.Contains(event.Type, ".") }
