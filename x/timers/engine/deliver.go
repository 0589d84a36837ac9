package engine

import (
	"context"
	"errors"
	"strings"

	abci "github.com/cometbft/cometbft/abci/types"

	storetypes "cosmossdk.io/store/types"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/report"
	"github.com/cosmos-timers/timers/x/timers/sandbox"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// run is the run of one fire's handler, on a meter of its own.
type run struct {
	meter *sandbox.Meter
	// intrinsic cycles are counted before anything that is metered.
	intrinsic uint64
	// served is the name of the runtime that served.
	served string
	// guarded: a condition of only_if does not hold, so that the handler is not run. failure is its error, or that of the
	// conditions.
	guarded bool
	failure error
	// short: it failed since its actor lacks the coins that its own messages state. That is looked for if asks says so.
	short, asks bool
}

// begin reads the conditions of a timer's only_if, on the cycles of the fire and on the state before its pre-charge, so that a
// condition on the payer's balance means what the payer sees. If the gas limit does not cover the intrinsic cycles, nothing is
// read.
func (e *Engine) begin(before sdk.Context, timer *types.Timer, intrinsic uint64) *run {
	asks := timer.Spec.OnUnfunded == types.OnUnfundedSkip || timer.Spec.OnUnfunded == types.OnUnfundedSuspend
	r := &run{served: report.NoRuntime, intrinsic: min(intrinsic, timer.GasLimit), asks: asks}
	r.meter = sandbox.NewMeter(timer.GasLimit-r.intrinsic, timer.CellLimit, before.KVGasConfig().WriteCostPerByte)
	if r.intrinsic == timer.GasLimit {
		r.failure = types.ErrOutOfCycles
		return r
	}
	if len(timer.Spec.OnlyIf) == 0 {
		return r
	}
	r.failure = sandbox.Probe(handlerContext(before, r.meter), func(ctx sdk.Context) error {
		for _, key := range timer.Spec.OnlyIf {
			holds, err := e.Watches.Watcher().Holds(ctx, key)
			if err != nil {
				return err
			}
			if !holds {
				r.guarded = true
				return nil
			}
		}
		return nil
	})
	r.guarded = r.guarded && r.failure == nil
	return r
}

// used is what is billed.
func (r *run) used() (cycles, cells uint64) {
	cycles, cells = r.meter.Used()
	return r.intrinsic + cycles, cells
}

// deliver runs the handler on a branch of state, unless a condition did not hold or could not be read. A failure drops the
// handler's writes and events; the charge stands.
func (e *Engine) deliver(ctx sdk.Context, b *block, delivery types.Delivery, r *run) {
	if r.guarded || r.failure != nil {
		return
	}
	var runtime types.Runtime
	failure := sandbox.Run(handlerContext(ctx, r.meter), func(ctx sdk.Context) (err error) {
		goCtx := context.Context(ctx)
		runtime, err = e.Router.Route(goCtx, delivery.Actor)
		if errors.Is(err, types.ErrUnknownActor) {
			return types.ErrActorGone
		}
		if err != nil {
			return err
		}
		r.served = report.RuntimeName(runtime)
		messages, err := MessageBytes(runtime, delivery.Call)
		if err != nil {
			return err
		}
		r.meter.ConsumeGas(market.MessageCyclesPerByte*messages, "messages")
		if err := runtime.Deliver(goCtx, &b.Config, delivery); err != nil {
			return err
		}
		chargeEvents(r.meter, ctx.EventManager().Events())
		return r.meter.Exceeded()
	})
	if failure != nil && r.meter.Exceeded() != nil {
		failure = r.meter.Exceeded()
	}
	r.failure = failure
	var wants types.CoinsWanted
	if r.asks && errors.As(failure, &wants) {
		r.short = e.lacksCoins(handlerContext(ctx, r.meter), delivery.Actor, wants)
	}
	if reporter, reports := runtime.(types.FailureReporter); reports && failure != nil {
		cycles, cells := r.used()
		meter := *r.meter
		// What a panic leaves is dropped, and the fire is settled.
		_ = sandbox.Run(handlerContext(ctx, &meter), func(ctx sdk.Context) error {
			reporter.Failed(ctx, delivery, cycles, cells, failure)
			return nil
		})
	}
}

// lacksCoins reports whether an actor can spend less than it wanted to. What that reads is on the cycles of the fire. A panic leaves
// a plain failure, whose fire is settled.
func (e *Engine) lacksCoins(ctx sdk.Context, actor sdk.AccAddress, wants types.CoinsWanted) (lacks bool) {
	err := sandbox.Probe(ctx, func(ctx sdk.Context) (err error) {
		lacks, err = e.Fees.Lacks(ctx, actor, wants.CoinsWanted())
		return err
	})
	return err == nil && lacks
}

// handlerContext is a fresh context. It has the gas of the fire only, and nothing of a transaction. A mark in it makes
// the module refuse a handler that tries to run timers.
func handlerContext(ctx sdk.Context, fire *sandbox.Meter) sdk.Context {
	return sandbox.WithinFire(ctx).WithGasMeter(fire).WithBlockGasMeter(storetypes.NewInfiniteGasMeter()).WithTxBytes(nil)
}

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

// readPayload reads what the handler is given, and returns the cycles that the fire counts for it and for its payer. If
// the gas limit does not cover them, the payload is not read, and the cycles are the whole gas limit. Scheduling refuses
// such a timer, but the config may have changed since.
func (e *Engine) readPayload(
	ctx sdk.Context, b *block, timer *types.Timer, payerCycles uint64,
) (payload []byte, intrinsic uint64, err error) {
	limit, ok := market.AffordablePayload(timer.GasLimit, payerCycles)
	if !ok {
		return nil, timer.GasLimit, nil
	}
	payload, err = e.Records.PayloadUpTo(ctx, timer, limit)
	if errors.Is(err, sandbox.ErrTooLarge) {
		return nil, timer.GasLimit, nil
	}
	return payload, market.FireWork{PayloadBytes: uint64(len(payload)), PayerCycles: payerCycles}.Cycles(), err
}

// LeastCycles are those of a call of a timer: what a fire counts before its handler runs, and what the handler takes before its
// code begins. The call has been checked by the runtime that serves the actor.
func (e *Engine) LeastCycles(
	ctx sdk.Context, config *types.TimerConfig, trigger *types.Trigger, call types.Call, payerCycles uint64,
) (intrinsic, handler uint64, err error) {
	runtime, err := e.Router.Route(ctx, call.Actor)
	if err != nil {
		return 0, 0, err
	}
	messages, err := MessageBytes(runtime, call)
	if err != nil {
		return 0, 0, err
	}
	intrinsic = market.FireWork{
		PayloadBytes: uint64(len(call.Payload)), MessageBytes: messages, PayerCycles: payerCycles + trigger.Cycles(),
	}.Cycles()
	if gas, ok := runtime.(types.GasRuntime); ok {
		handler, err = gas.LeastCycles(ctx, call)
	}
	return intrinsic, max(1, handler), err
}

// MessageBytes is what the messages of a call count as; 0 if the runtime decodes none.
func MessageBytes(runtime types.Runtime, call types.Call) (uint64, error) {
	decoder, decodes := runtime.(types.MessageRuntime)
	if !decodes || !decoder.RunsMessages(call) {
		return 0, nil
	}
	if size := uint64(len(call.Payload)); size > market.MaxMessagesBytes {
		return 0, types.ErrPayloadTooLong.Wrapf("%d bytes of messages, want at most %d", size, market.MaxMessagesBytes)
	}
	return decoder.MessageBytes(call)
}
