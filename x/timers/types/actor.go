// Package types holds what the module says to the outside: messages, records, config, errors, and the interfaces of its
// neighbours.
package types

import (
	"context"

	sdk "github.com/cosmos/cosmos-sdk/types"
)

// Call is what a timer does when it fires: a handler of its actor, and the payload for it.
type Call struct {
	Actor   sdk.AccAddress
	Handler string
	Payload []byte
}

// Delivery is one fire of a timer, handed to the runtime that serves its actor (SPEC §8).
type Delivery struct {
	Call
	TimerID   []byte
	DeliverID []byte
	// Height at which it fires.
	Height uint64
	// FireSeq is how many deliveries of the timer came before this one.
	FireSeq uint32
	// Matched are the watched keys whose change made it due, MAX_MATCHED_KEYS at most; none for other triggers.
	Matched []WatchedKey
}

// Runtime runs the handlers of one kind of actor (SPEC §9). Every method is deterministic. Validate and Deliver read
// and write state through ctx only and are metered by its gas meter; both may fail or panic without harm to others.
type Runtime interface {
	// Serves tells whether the actor exists and is of this runtime's kind.
	Serves(ctx context.Context, actor sdk.AccAddress) bool
	// Validate refuses, when scheduling, a call that could not succeed at any time.
	Validate(ctx context.Context, config *TimerConfig, call Call) error
	// Deliver runs the handler. What it wrote is dropped if it returns an error or panics.
	Deliver(ctx context.Context, config *TimerConfig, delivery Delivery) error
	// Deployer is who deployed the actor, if it is of a kind that is deployed; otherwise the actor itself (SPEC §6,
	// FAIRNESS_UNIT).
	Deployer(ctx context.Context, actor sdk.AccAddress) sdk.AccAddress
}

// Router answers which runtime serves an actor: the first registered one that says so.
type Router interface {
	// Route returns the runtime that serves the actor, or ErrUnknownActor.
	Route(ctx context.Context, actor sdk.AccAddress) (Runtime, error)
}
