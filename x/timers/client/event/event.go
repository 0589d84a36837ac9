// Package event reads the module's events as nodes report them.
package event

import (
	"slices"
	"strings"

	abci "github.com/cometbft/cometbft/abci/types"
	"github.com/cosmos/gogoproto/proto"

	sdk "github.com/cosmos/cosmos-sdk/types"
)

// prefix is that of the names of the module's events.
const prefix = "timers.v1."

// Ours reports whether an event is one of the module's.
func Ours(event abci.Event) bool { return strings.HasPrefix(event.Type, prefix) }

// Kind is the name of one of the module's events: TimerFired.
func Kind(event abci.Event) string { return strings.TrimPrefix(event.Type, prefix) }

// Parse reads an event. The SDK adds attributes that say where an event came from; they belong to no message, and one of
// them is not JSON. Parse leaves them out, and the event as it is.
func Parse(event abci.Event) (proto.Message, error) {
	event.Attributes = slices.DeleteFunc(slices.Clone(event.Attributes), func(a abci.EventAttribute) bool {
		return a.Key == "mode" || a.Key == "msg_index"
	})
	return sdk.ParseTypedEvent(event)
}
