package keeper

import (
	"context"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/report"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// SetAgent registers the agent that prices the actor's timers which state no bid, or clears it if agent is empty
// (x/timers/README.md, "3.6 MsgSetAgent"). It holds from the next block in which such a timer competes.
//
// It consumes schedule_cycles. Errors are ErrUnknownActor, and ErrInvalidAgent for an address that can't be an agent.
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
	return report.Emit(ctx, event)
}

// AgentOf returns the default agent of an actor, empty if it has none.
func (k *Keeper) AgentOf(ctx context.Context, actor sdk.AccAddress) (sdk.AccAddress, error) {
	return k.engine.Agents.Of(ctx, actor)
}
