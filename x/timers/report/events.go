package report

import (
	"context"

	abci "github.com/cometbft/cometbft/abci/types"
	"github.com/cosmos/gogoproto/proto"

	sdk "github.com/cosmos/cosmos-sdk/types"
)

const (
	// usualBytes hold the values of nearly every event.
	usualBytes = 512
	// usualFields are as many as nearly every event has at most.
	usualFields = 32
)

// Emit emits a typed event.
func Emit(ctx context.Context, event proto.Message) error {
	typed, err := TypedEvent(event)
	if err != nil {
		return err
	}
	sdk.UnwrapSDKContext(ctx).EventManager().EmitEvent(typed)
	return nil
}

// TypedEvent is sdk.TypedEventToEvent, byte for byte. The SDK's writes JSON, and reads it back into a map to sort it, which is
// half of what a timer's exit takes. Here the layout of each message is looked at once. An event with a field
// that a layout does not know goes the SDK's way.
func TypedEvent(event proto.Message) (sdk.Event, error) {
	layout, value := layoutOf(event)
	if layout == nil {
		return sdk.TypedEventToEvent(event)
	}
	// One text holds all values.
	text, ends := make([]byte, 0, usualBytes), make([]int, 0, usualFields)
	for _, f := range layout.sorted {
		text = f.write(text, value.Field(f.index))
		ends = append(ends, len(text))
	}
	values, attributes, start := string(text), make([]abci.EventAttribute, len(ends)), 0
	for i, end := range ends {
		attributes[i] = abci.EventAttribute{Key: layout.sorted[i].key, Value: values[start:end]}
		start = end
	}
	return sdk.Event{Type: layout.name, Attributes: attributes}, nil
}
