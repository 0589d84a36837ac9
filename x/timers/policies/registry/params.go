package registry

import (
	"fmt"
	"slices"

	"github.com/cosmos/gogoproto/proto"

	"github.com/cosmos/cosmos-sdk/codec"
	codectypes "github.com/cosmos/cosmos-sdk/codec/types"

	"github.com/cosmos-timers/timers/x/timers/policies"
	"github.com/cosmos-timers/timers/x/timers/types"
)

func urlOf(message proto.Message) string { return "/" + proto.MessageName(message) }

// register makes the messages of a policy known to the chain's codec. It panics if its parameters have the name of another policy's
// or of a parameter of the config: --set NAME.field would name both.
func (r *Registry) register(cdc codec.BinaryCodec, p policies.Policy) {
	known, ok := cdc.(interface {
		InterfaceRegistry() codectypes.InterfaceRegistry
	})
	if !ok {
		panic(fmt.Errorf("x/timers: policy %d: the codec has no registry of interfaces", p.ID()))
	}
	policies.RegisterInterfaces(known.InterfaceRegistry(), p)
	if params := p.Params(); params != nil {
		name := types.PolicyName(urlOf(params))
		taken := slices.ContainsFunc(r.policies, func(other policies.Policy) bool {
			theirs := other.Params()
			return theirs != nil && types.PolicyName(urlOf(theirs)) == name
		})
		if taken || types.IsConfigField(name) {
			panic(fmt.Errorf("x/timers: policy %d: the name %q of its parameters %s is taken", p.ID(), name, urlOf(params)))
		}
	}
}

// Complete returns a config with the parameters of each policy of the chain: those that it states, else their defaults. It leaves
// out what it states of policies that the chain does not have, as a config of a binary that had them may.
func (r *Registry) Complete(config types.TimerConfig) types.TimerConfig {
	stated := config.PolicyParams
	config.PolicyParams = nil
	for _, p := range r.policies {
		params := p.Params()
		if params == nil {
			continue
		}
		i := slices.IndexFunc(stated, func(packed *codectypes.Any) bool { return packed.GetTypeUrl() == urlOf(params) })
		if i >= 0 {
			if cached, ok := stated[i].GetCachedValue().(types.PolicyParams); ok {
				params = cached
			}
		}
		config.SetParams(params)
	}
	return config
}

// checkParams refuses parameters of a policy that the chain does not have.
func (r *Registry) checkParams(config *types.TimerConfig) error {
	for _, packed := range config.PolicyParams {
		known := slices.ContainsFunc(r.policies, func(p policies.Policy) bool {
			params := p.Params()
			return params != nil && urlOf(params) == packed.GetTypeUrl()
		})
		if !known {
			return types.ErrInvalidConfig.Wrapf("policy_params: this chain has registered no policy with the parameters %.80s", packed.GetTypeUrl())
		}
	}
	return nil
}
