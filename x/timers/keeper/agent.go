package keeper

import (
	"context"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// SetAgent registers the agent that prices those of the actor's timers that state no bid. An empty agent clears it. It
// takes effect with the next block in which such a timer competes. It charges SCHEDULE_CYCLES.
func (k *Keeper) SetAgent(ctx context.Context, actor, agent sdk.AccAddress) error {
	config, err := k.Config(ctx)
	if err != nil {
		return err
	}
	chargeScheduling(ctx, &config, nil)
	if _, err := k.engine.Router.Route(ctx, actor); err != nil {
		return err
	}
	event := &types.TimerAgentSet{Actor: k.text(actor)}
	if len(agent) > 0 {
		if err := k.engine.Agents.Check(ctx, agent); err != nil {
			return err
		}
		event.Agent = k.text(agent)
	}
	if err := k.engine.Agents.Set(ctx, actor, agent); err != nil {
		return err
	}
	return types.Emit(ctx, event)
}

// AgentOf returns the default agent of an actor, empty if it has none.
func (k *Keeper) AgentOf(ctx context.Context, actor sdk.AccAddress) (sdk.AccAddress, error) {
	return k.engine.Agents.Of(ctx, actor)
}
