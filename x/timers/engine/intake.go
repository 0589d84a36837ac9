package engine

import (
	"errors"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/sandbox"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// readPayload reads what the handler is given, and returns the cycles that the fire counts for it and for its payer. If
// the gas limit does not cover them, the payload is not read, and the cycles are the whole gas limit. Scheduling refuses
// such a timer, but the config may have changed since.
func (e *Engine) readPayload(
	ctx sdk.Context, b *block, timer *types.Timer, payerCycles uint64,
) (payload []byte, intrinsic uint64, err error) {
	costs := b.Config.Intrinsic()
	limit, ok := costs.Affordable(timer.GasLimit, payerCycles)
	if !ok {
		return nil, timer.GasLimit, nil
	}
	payload, err = e.Records.PayloadUpTo(ctx, timer, limit)
	if errors.Is(err, sandbox.ErrTooLarge) {
		return nil, timer.GasLimit, nil
	}
	return payload, costs.Cycles(market.FireWork{PayloadBytes: uint64(len(payload)), PayerCycles: payerCycles}), err
}

// IntrinsicCycles are those of a call of a timer: what scheduling and updating check, and an estimate states. The call
// has been checked by the runtime that serves the actor.
func (e *Engine) IntrinsicCycles(
	ctx sdk.Context, config *types.TimerConfig, trigger *types.Trigger, call types.Call, payerCycles uint64,
) (uint64, error) {
	runtime, err := e.Router.Route(ctx, call.Actor)
	if err != nil {
		return 0, err
	}
	messages, err := MessageBytes(config, runtime, call)
	payerCycles += config.TriggerCycles(trigger)
	return config.Intrinsic().Cycles(market.FireWork{
		PayloadBytes: uint64(len(call.Payload)), MessageBytes: messages, PayerCycles: payerCycles,
	}), err
}

// MessageBytes is what the messages of a call count as; 0 if the runtime decodes none.
func MessageBytes(config *types.TimerConfig, runtime types.Runtime, call types.Call) (uint64, error) {
	decoder, decodes := runtime.(types.MessageRuntime)
	if !decodes || !decoder.RunsMessages(call) {
		return 0, nil
	}
	if size := uint64(len(call.Payload)); size > config.MaxMessagesBytes {
		return 0, types.ErrPayloadTooLong.Wrapf("%d bytes of messages, want at most %d", size, config.MaxMessagesBytes)
	}
	return decoder.MessageBytes(call)
}
