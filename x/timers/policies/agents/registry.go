// Package agents registers and calls bidding agents: contracts and modules that price the timers of the actors that
// name them (x/timers/README.md, "1.9 Fairness and agents").
//
//   - Params, State and DefaultAgents: the messages of the guest.
//   - Registry: the default agents of actors, and who can be an agent.
//   - Calls: what the agents of one block answered, and what that cost.
package agents

import (
	"context"
	"fmt"

	"cosmossdk.io/collections"
	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/policies"
	"github.com/cosmos-timers/timers/x/timers/state"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// Registry holds the default agents of actors.
type Registry struct {
	// agents: actor → default agent.
	agents collections.Map[sdk.AccAddress, []byte]
	parts  *policies.Parts
}

var _ policies.Agents = (*Registry)(nil)

// New adds the registry's collection to the schema. It is what keeper.WithAgents takes.
func New(parts *policies.Parts) policies.Agents {
	agents := collections.NewMap(parts.Schema, types.PrefixAgents, "agents", sdk.AccAddressKey, collections.BytesValue)
	return &Registry{agents, parts}
}

// Set implements policies.Agents.
func (r *Registry) Set(ctx context.Context, actor, agent sdk.AccAddress) error {
	if len(agent) == 0 {
		return r.agents.Remove(ctx, actor)
	}
	return r.agents.Set(ctx, actor, agent)
}

// Of implements policies.Agents.
func (r *Registry) Of(ctx context.Context, actor sdk.AccAddress) (sdk.AccAddress, error) {
	agent, _, err := state.Find(ctx, r.agents, actor)
	return agent, err
}

// Messages implements policies.Guest.
func (*Registry) Messages() policies.Messages {
	return policies.Messages{Params: (*Params)(nil).Defaults(), State: []types.PolicyState{&State{}, &DefaultAgents{}}}
}

// Describe implements policies.Agents.
func (*Registry) Describe(lane *types.LaneState, response *types.QueryLaneResponse) {
	carried := types.MessageOf[State](lane.Policies)
	if carried == nil {
		carried = &State{Billed: math.ZeroInt()}
	}
	response.AgentCycles, response.AgentsUnasked, response.AgentsBilled = carried.Cycles, carried.Unasked, carried.Billed.String()
}

// None reports whether no actor has a default agent.
func (r *Registry) None(ctx context.Context) (bool, error) {
	iterator, err := r.agents.Iterate(ctx, nil)
	if err != nil {
		return false, err
	}
	defer func() { _ = iterator.Close() }()
	return !iterator.Valid(), nil
}

// Check implements policies.Agents. Anyone's contract or module may be named: an agent can only read,
// and what it reads is public.
func (r *Registry) Check(ctx context.Context, agent sdk.AccAddress) error {
	quoter, err := r.quoterOf(ctx, agent)
	if err != nil {
		return err
	}
	if !quoter.Quotes(ctx, agent) {
		return types.ErrInvalidAgent.Wrapf("module %s is no bidding agent", r.parts.Addresses.Text(agent))
	}
	return nil
}

// quoterOf returns the runtime that an agent is asked through.
func (r *Registry) quoterOf(ctx context.Context, agent sdk.AccAddress) (types.Quoter, error) {
	runtime, err := r.parts.Router.Route(ctx, agent)
	if err != nil {
		return nil, types.ErrInvalidAgent.Wrapf("there is no contract or module %s", r.parts.Addresses.Text(agent))
	}
	quoter, ok := runtime.(types.Quoter)
	if !ok {
		return nil, types.ErrInvalidAgent.Wrapf("%s is an account, want a contract or a module: an account has no code that could answer",
			r.parts.Addresses.Text(agent))
	}
	return quoter, nil
}

// ReadTimers implements state.TimerReader: it checks the addresses of the agents that timers name.
func (r *Registry) ReadTimers(context.Context, *types.GenesisState) state.TimerReading {
	return state.TimerReading{Timer: func(i int, t *types.Timer) error {
		if t.Spec.Bid == nil || t.Spec.Bid.Agent == "" {
			return nil
		}
		if _, err := r.parts.Addresses.Parse("bid.agent", t.Spec.Bid.Agent); err != nil {
			return types.ErrInvalidGenesis.Wrapf("timer %d: %s", i, err)
		}
		return nil
	}}
}

// CheckInvariants implements state.Component: the prices of answers are within their bounds.
func (r *Registry) CheckInvariants(ctx context.Context) error {
	timers, err := r.parts.Records.All(ctx)
	if err != nil {
		return err
	}
	for i := range timers {
		t := &timers[i]
		if t.LastAnswer == nil {
			continue
		}
		if err := t.LastAnswer.Validate(); err != nil {
			return fmt.Errorf("last answer of timer %s: %w", t.IDHex(), err)
		}
	}
	return nil
}
