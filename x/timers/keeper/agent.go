package keeper

import (
	"context"
	"fmt"

	"cosmossdk.io/collections"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// An actor's default agent lies on the first page of its record, which a block that weighs the actor reads anyway.

// SetAgent registers the agent that prices the actor's timers which state no bid, or clears it if the agent is empty. It
// holds from the next block in which such a timer competes. It charges SCHEDULE_CYCLES.
func (k *Keeper) SetAgent(ctx context.Context, actor, agent sdk.AccAddress) error {
	config, err := k.Config(ctx)
	if err != nil {
		return err
	}
	chargeScheduling(ctx, &config, nil)
	if _, err := k.router.Route(ctx, actor); err != nil {
		return err
	}
	event := &types.TimerAgentSet{Actor: k.bech32(actor)}
	if len(agent) > 0 {
		if err := k.checkAgent(ctx, agent); err != nil {
			return err
		}
		event.Agent = k.bech32(agent)
	}
	if err := k.putAgent(ctx, actor, agent); err != nil {
		return err
	}
	return k.emit(ctx, event)
}

func (k *Keeper) putAgent(ctx context.Context, actor, agent sdk.AccAddress) error {
	page, err := k.actorPage(ctx, actor, 0)
	if err != nil {
		return err
	}
	page.Agent = agent
	return k.setActorPage(ctx, actor, 0, page)
}

// AgentOf returns the default agent of an actor, empty if it has none.
func (k *Keeper) AgentOf(ctx context.Context, actor sdk.AccAddress) (sdk.AccAddress, error) {
	page, err := k.actorPage(ctx, actor, 0)
	return page.Agent, err
}

// checkAgent refuses an address that can't be an agent. Anybody's contract or module may be named: an agent can only read,
// and what it reads is no secret.
func (k *Keeper) checkAgent(ctx context.Context, agent sdk.AccAddress) error {
	quoter, err := k.quoterOf(ctx, agent)
	if err != nil {
		return err
	}
	if !quoter.Quotes(ctx, agent) {
		return types.ErrInvalidAgent.Wrapf("module %s is no bidding agent", k.bech32(agent))
	}
	return nil
}

// quoterOf returns the runtime that an agent is asked through.
func (k *Keeper) quoterOf(ctx context.Context, agent sdk.AccAddress) (types.Quoter, error) {
	runtime, err := k.router.Route(ctx, agent)
	if err != nil {
		return nil, types.ErrInvalidAgent.Wrapf("there is no contract or module %s", k.bech32(agent))
	}
	quoter, ok := runtime.(types.Quoter)
	if !ok {
		return nil, types.ErrInvalidAgent.Wrapf("%s is an account, want a contract or a module: an account has no code that could answer", k.bech32(agent))
	}
	return quoter, nil
}

// parseAgent reads the address of an agent from a field of a message.
func (k *Keeper) parseAgent(field, text string) (sdk.AccAddress, error) {
	agent, err := k.parseAddress(field, text)
	if err != nil {
		return nil, types.ErrInvalidAgent.Wrapf("%v", err)
	}
	return agent, nil
}

// acceptAgent checks the agent of a bid. It is not asked: what it says holds in the block in which it says it.
func (k *Keeper) acceptAgent(ctx context.Context, text string) (acceptedBid, error) {
	agent, err := k.parseAgent("bid.agent", text)
	if err != nil {
		return acceptedBid{}, err
	}
	return acceptedBid{bid: &types.Bid{Agent: k.bech32(agent)}}, k.checkAgent(ctx, agent)
}

// allAgents returns the default agents of all actors, by actor.
func (k *Keeper) allAgents(ctx context.Context) (all []types.ActorAgent, err error) {
	err = k.walkFirstPages(ctx, func(actor sdk.AccAddress, page types.ActorPage) {
		if len(page.Agent) > 0 {
			all = append(all, types.ActorAgent{Actor: actor, Agent: page.Agent})
		}
	})
	return all, err
}

// initAgents writes the default agents. That they can be asked shows when they are: a chain may start without the runtime
// of some.
func (k *Keeper) initAgents(ctx context.Context, genesis *types.GenesisState) error {
	for i := range genesis.Agents {
		if err := k.putAgent(ctx, genesis.Agents[i].Actor, genesis.Agents[i].Agent); err != nil {
			return err
		}
	}
	for i := range genesis.Timers {
		bid := genesis.Timers[i].Bid
		if bid == nil || bid.Agent == "" {
			continue
		}
		if _, err := k.parseAddress("bid.agent", bid.Agent); err != nil {
			return types.ErrInvalidGenesis.Wrapf("timer %d: %v", i, err)
		}
	}
	return nil
}

// checkAgents is an invariant: an actor's agent lies on its first page alone, and only timers in the ready index have quotes,
// whose prices are within their bounds.
func (k *Keeper) checkAgents(ctx context.Context) error {
	err := k.state.actors.Walk(ctx, nil, func(key collections.Pair[sdk.AccAddress, uint16], page types.ActorPage) (bool, error) {
		if key.K2() > 0 && len(page.Agent) > 0 {
			return true, fmt.Errorf("page %d of %s names an agent", key.K2(), key.K1())
		}
		return false, nil
	})
	if err != nil {
		return err
	}
	timers, err := k.records(ctx)
	if err != nil {
		return err
	}
	for i := range timers {
		t := &timers[i]
		if t.Quote == nil {
			continue
		}
		if t.AdmittedWeight == 0 {
			return fmt.Errorf("timer %s has a quote and is not admitted", t.IDHex())
		}
		if err := t.Quote.Validate(); err != nil {
			return fmt.Errorf("timer %s: %w", t.IDHex(), err)
		}
	}
	return nil
}

// walkFirstPages hands out the first page of every actor's record, by actor.
func (k *Keeper) walkFirstPages(ctx context.Context, fn func(actor sdk.AccAddress, page types.ActorPage)) error {
	return k.state.actors.Walk(ctx, nil, func(key collections.Pair[sdk.AccAddress, uint16], page types.ActorPage) (bool, error) {
		if key.K2() == 0 {
			fn(key.K1(), page)
		}
		return false, nil
	})
}

// Agent implements types.QueryServer.
func (q queryServer) Agent(ctx context.Context, req *types.QueryAgentRequest) (*types.QueryAgentResponse, error) {
	actor, err := q.parseAddress("actor", req.GetActor())
	if err != nil {
		return nil, invalidArgument(err)
	}
	agent, err := q.AgentOf(ctx, actor)
	if err != nil || len(agent) == 0 {
		return &types.QueryAgentResponse{}, err
	}
	return &types.QueryAgentResponse{Agent: q.bech32(agent)}, nil
}

// SetAgent implements types.MsgServer.
func (m msgServer) SetAgent(ctx context.Context, msg *types.MsgSetAgent) (*types.MsgSetAgentResponse, error) {
	actor, err := m.parseAddress("sender", msg.Sender)
	if err != nil {
		return nil, err
	}
	var agent sdk.AccAddress
	if msg.Agent != "" {
		if agent, err = m.parseAgent("agent", msg.Agent); err != nil {
			return nil, err
		}
	}
	return &types.MsgSetAgentResponse{}, m.Keeper.SetAgent(ctx, actor, agent)
}
