package agents

import (
	"bytes"
	"context"
	"slices"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// agentsInMessage is how many default agents a message of an exported genesis has at most.
const agentsInMessage = 1_000

// Validate implements types.PolicyState.
func (s *State) Validate(*types.GenesisState) error {
	if err := sdk.VerifyAddressFormat(s.Payer); len(s.Payer) > 0 && err != nil {
		return types.ErrInvalidGenesis.Wrapf("agent.State: payer: %s", err)
	}
	return types.CheckTotal("agent.State: billed", s.Billed)
}

// MovedBack implements types.PolicyState: the queue's order changes where timers were overdue, so that its first one starts.
func (s *State) MovedBack(uint64, uint64) types.PolicyState {
	moved := *s
	moved.Turn = types.QueueKey{}
	return &moved
}

// Validate implements types.PolicyState: the agents are in the order of their actors, and those of the message before come before
// them.
func (d *DefaultAgents) Validate(head *types.GenesisState) error {
	var last []byte
	for _, stated := range types.PoliciesOf[DefaultAgents](head) {
		if stated == d {
			break
		}
		if n := len(stated.Agents); n > 0 {
			last = stated.Agents[n-1].Actor
		}
	}
	for i := range d.Agents {
		a := &d.Agents[i]
		for _, address := range []struct {
			name  string
			bytes []byte
		}{{"actor", a.Actor}, {"agent", a.Agent}} {
			if err := sdk.VerifyAddressFormat(address.bytes); err != nil {
				return types.ErrInvalidGenesis.Wrapf("agent.DefaultAgents %d: %s: %s", i, address.name, err)
			}
		}
		if bytes.Compare(last, a.Actor) >= 0 {
			return types.ErrInvalidGenesis.Wrapf("agent.DefaultAgents %d: not above the one before by actor", i)
		}
		last = a.Actor
	}
	return nil
}

// MovedBack implements types.PolicyState: they have no heights.
func (d *DefaultAgents) MovedBack(uint64, uint64) types.PolicyState { return d }

// InitGenesis implements state.Component. It takes agents that can't be called: a chain may start without the runtime of some.
func (r *Registry) InitGenesis(ctx context.Context, genesis *types.GenesisState) error {
	for _, stated := range types.PoliciesOf[DefaultAgents](genesis) {
		for i := range stated.Agents {
			if err := r.Set(ctx, stated.Agents[i].Actor, stated.Agents[i].Agent); err != nil {
				return err
			}
		}
	}
	return nil
}

// ExportGenesis implements state.Component: the default agents of all actors, by actor.
func (r *Registry) ExportGenesis(ctx context.Context, genesis *types.GenesisState) error {
	var all []ActorAgent
	err := r.agents.Walk(ctx, nil, func(actor sdk.AccAddress, agent []byte) (bool, error) {
		all = append(all, ActorAgent{Actor: actor, Agent: agent})
		return false, nil
	})
	if err != nil {
		return err
	}
	for chunk := range slices.Chunk(all, agentsInMessage) {
		genesis.AddPolicy(&DefaultAgents{Agents: chunk})
	}
	return nil
}
