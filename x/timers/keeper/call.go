package keeper

import (
	"context"

	codectypes "github.com/cosmos/cosmos-sdk/codec/types"
	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// statedCall is what a timer of the actor does, stated as handler and payload or as messages. Messages are what an
// encoded AccountPayload of them is: they are stored, paid for and checked as its bytes. Nothing of them is decoded here.
func statedCall(actor sdk.AccAddress, stated types.TimerCall) (types.Call, error) {
	call := types.Call{Actor: actor, Handler: stated.Handler, Payload: stated.Payload}
	if len(stated.Messages) == 0 {
		return call, nil
	}
	if stated.Handler != "" || len(stated.Payload) > 0 {
		return call, types.ErrAmbiguousCall.Wrap("messages are stated together with a handler or a payload: state one")
	}
	for i, packed := range stated.Messages {
		if packed == nil {
			return call, types.ErrInvalidPayload.Wrapf("message %d is missing", i)
		}
	}
	payload := types.AccountPayload{Messages: stated.Messages}
	bz, err := payload.Marshal()
	call.Payload, call.Messages = bz, true
	return call, err
}

// NewMessages packs messages for a request.
func NewMessages(msgs ...sdk.Msg) ([]*codectypes.Any, error) {
	payload, err := types.NewAccountPayload(msgs...)
	if err != nil {
		return nil, err
	}
	return payload.Messages, nil
}

// This file holds what an actor's admin may do: schedule calls of the actor, and change those timers.

// changeBy names a timer, by its id, by the name that the sender has given it, or by both, and who changes it.
type changeBy struct {
	sender, actor sdk.AccAddress
	id            []byte
	name          string
}

// own names a timer that its actor changes.
func own(actor sdk.AccAddress, id []byte) changeBy {
	return changeBy{sender: actor, actor: actor, id: id}
}

// find returns the timer that is named. With an id the name must be that of the timer: it is ErrChanged otherwise.
func (k *Keeper) find(ctx context.Context, by changeBy) (types.Timer, error) {
	if len(by.id) == 0 {
		return k.engine.Records.Named(ctx, by.actor, by.sender, by.name)
	}
	timer, err := k.engine.Records.Lookup(ctx, by.actor, by.id)
	if err == nil && by.name != "" && by.name != timer.Spec.Name {
		err = types.ErrChanged.Wrapf("timer %s has the name %q, not %.80q: look again", timer.IDHex(), timer.Spec.Name, by.name)
	}
	return timer, err
}

// checkScheduler returns an error unless the address may schedule the call: the actor itself, or its admin now, who could
// replace what the actor does, and so may schedule calls of it. Messages would run as the actor, which an admin is not.
func (k *Keeper) checkScheduler(ctx context.Context, scheduler sdk.AccAddress, call types.Call) error {
	if scheduler.Empty() || scheduler.Equals(call.Actor) {
		return nil
	}
	if !types.IsAdmin(ctx, k.engine.Router, call.Actor, scheduler) {
		return types.ErrNotAdmin.Wrapf("%s is not the admin of %s: an actor schedules for itself, and a contract's admin for the contract",
			k.text(scheduler), k.text(call.Actor))
	}
	if call.Messages {
		return types.ErrForeignSigner.Wrapf("messages run as %s, and its admin %s schedules calls alone: state a handler and a payload",
			k.text(call.Actor), k.text(scheduler))
	}
	return nil
}

// checkChange returns an error unless the sender may change the timer: who scheduled it, and is the admin still if the
// actor did not.
func (k *Keeper) checkChange(ctx context.Context, timer *types.Timer, sender sdk.AccAddress, call types.Call) error {
	if principal := timer.Principal(); !principal.Equals(sender) {
		return types.ErrNotScheduler.Wrapf("%s scheduled timer %s and alone changes it, not %s; its actor may cancel it",
			k.text(principal), timer.IDHex(), k.text(sender))
	}
	call.Actor = timer.Actor
	return k.checkScheduler(ctx, timer.Scheduler, call)
}

// changeable returns a timer that can still fire and that the sender may change.
func (k *Keeper) changeable(ctx context.Context, by changeBy) (types.Timer, error) {
	timer, err := k.liveTimer(ctx, by)
	if err != nil {
		return timer, err
	}
	return timer, k.checkChange(ctx, &timer, by.sender, types.Call{})
}

// limitOf is how many timers an actor may have for the scheduler to add one. An admin may take half of the room, so that it
// leaves the actor's own timers the other half; the actor may take all.
func limitOf(config *types.TimerConfig, t *types.Timer) uint32 {
	if len(t.Scheduler) == 0 {
		return config.MaxTimersPerActor
	}
	return config.MaxTimersPerActor / 2
}
