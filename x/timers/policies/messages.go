package policies

import (
	codectypes "github.com/cosmos/cosmos-sdk/codec/types"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// Messages are the types of the messages that a guest brings along in addition to its parameters.
type Messages struct {
	// State is what it carries in policies of the lane's state, or keeps in policies of a genesis.
	State []types.PolicyState
	// Standing is what queries show of it.
	Standing []types.PolicyStanding
}

// RegisterInterfaces makes the messages of a guest known to a registry, so that they can be decoded.
func RegisterInterfaces(registry codectypes.InterfaceRegistry, g Guest) {
	types.RegisterPolicyInterfaces(registry)
	if params := g.Params(); params != nil {
		registry.RegisterImplementations((*types.PolicyParams)(nil), params)
	}
	for _, state := range g.Messages().State {
		registry.RegisterImplementations((*types.PolicyState)(nil), state)
	}
	for _, standing := range g.Messages().Standing {
		registry.RegisterImplementations((*types.PolicyStanding)(nil), standing)
	}
}
