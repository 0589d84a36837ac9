package types

import (
	"context"

	sdk "github.com/cosmos/cosmos-sdk/types"
)

// Call is what a timer does when it fires: it calls a handler of its actor with a payload.
type Call struct {
	Actor   sdk.AccAddress
	Handler string
	Payload []byte
	// Messages: the payload is an encoded AccountPayload, and was stated as messages. A record keeps it only for actors whose
	// payloads can be something else (Timer.runs_messages).
	Messages bool
}

// Delivery is one fire of a timer, handed to the runtime that serves its actor (x/timers/README.md, "1.12 Delivery").
type Delivery struct {
	Call
	TimerID   []byte
	DeliverID []byte
	// Height at which it fires.
	Height uint64
	// Due is the height at which it became due; for a watch, that of the first change that it delivers. It is late if this
	// is below Height.
	Due uint64
	// Scheduler is who scheduled the timer, where that is not the actor but its admin; else empty.
	Scheduler sdk.AccAddress
	// Trigger is the name of the timer's kind of trigger: height, after, interval, time, calendar or watch.
	Trigger string
	// FireSeq is the number of the timer's earlier deliveries.
	FireSeq uint32
	// Matched are the watched keys whose change made it due, at most MAX_MATCHED_KEYS; none for other triggers.
	Matched []WatchedKey
	// Occurrence is what is delivered of a time or a calendar, in seconds since 1970, or of an interval from its schedule, as a
	// height, and Index its number from 1 on; 0 for other triggers. A timer never delivers one twice, but for retries.
	Occurrence, Index uint64
}

// Runtime runs the handlers of one kind of actor (x/timers/README.md, "1.3 Actor"). Every method is deterministic.
// Validate and Deliver access state through ctx only and are metered by its gas meter. If they fail or panic, only this
// timer is affected.
type Runtime interface {
	// Serves reports whether the actor exists and is of this runtime's kind.
	Serves(ctx context.Context, actor sdk.AccAddress) bool
	// Validate is called at scheduling. It refuses a call that can never succeed.
	Validate(ctx context.Context, config *TimerConfig, call Call) error
	// Deliver runs the handler. What it wrote is dropped if it returns an error or panics.
	Deliver(ctx context.Context, config *TimerConfig, delivery Delivery) error
	// Deployer is the address that deployed the actor, or the actor itself if it is of a kind that is not deployed. Under
	// FAIRNESS_UNIT deployer, the actors of one deployer share a weight.
	Deployer(ctx context.Context, actor sdk.AccAddress) sdk.AccAddress
}

// MessageRuntime is a Runtime that decodes SDK messages from payloads. What that takes is counted before it is done.
type MessageRuntime interface {
	Runtime
	// RunsMessages reports whether the payload of a call is messages: always, or where the call says so.
	RunsMessages(call Call) bool
	// MessageBytes is what the messages of a call count as (PayloadShape). It decodes nothing, and takes time in
	// proportion to the payload. It refuses messages that must not be decoded: too many of them, too deep, or of a type
	// that never runs in a timer.
	MessageBytes(call Call) (uint64, error)
}

// FailureReporter is a Runtime that reports deliveries which failed. What they wrote is dropped by then, and so are their events.
type FailureReporter interface {
	Runtime
	// Failed gets what the delivery is billed, its error, and a copy of its gas meter. It emits events, and writes nothing.
	Failed(ctx context.Context, delivery Delivery, cycles, cells uint64, failure error)
}

// Router finds the runtime that serves an actor: the first registered one that reports so.
type Router interface {
	// Route returns the runtime that serves the actor, or ErrUnknownActor.
	Route(ctx context.Context, actor sdk.AccAddress) (Runtime, error)
}
