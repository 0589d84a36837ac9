package policies

import (
	"fmt"
	"slices"

	"github.com/cosmos/gogoproto/proto"

	codectypes "github.com/cosmos/cosmos-sdk/codec/types"

	"github.com/cosmos-timers/timers/x/timers/types"
)

func urlOf(message proto.Message) string { return "/" + proto.MessageName(message) }

// register adds a guest, and makes its messages known to the chain's codec. It panics if its parameters have the name of another guest's
// or of a parameter of the config: --set NAME.field would name both.
func (r *Registry) register(g Guest) {
	known, ok := r.parts.Codec.(interface {
		InterfaceRegistry() codectypes.InterfaceRegistry
	})
	if !ok {
		panic(fmt.Errorf("x/timers: the codec %T has no registry of interfaces", r.parts.Codec))
	}
	RegisterInterfaces(known.InterfaceRegistry(), g)
	if params := g.Params(); params != nil {
		name := types.PolicyName(urlOf(params))
		taken := slices.ContainsFunc(r.guests, func(other Guest) bool {
			theirs := other.Params()
			return theirs != nil && types.PolicyName(urlOf(theirs)) == name
		})
		if taken || types.IsConfigField(name) {
			panic(fmt.Errorf("x/timers: the name %q of the parameters %s is taken", name, urlOf(params)))
		}
	}
	r.guests = append(r.guests, g)
}

// Complete returns a config with the parameters of each guest of the chain: those that it states, else their defaults. It leaves
// out what it states of guests that the chain does not have, as a config of a binary that had them may.
func (r *Registry) Complete(config types.TimerConfig) types.TimerConfig {
	stated := config.PolicyParams
	config.PolicyParams = nil
	for _, g := range r.guests {
		params := g.Params()
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

// checkParams refuses parameters of a guest that the chain does not have.
func (r *Registry) checkParams(config *types.TimerConfig) error {
	for _, packed := range config.PolicyParams {
		known := slices.ContainsFunc(r.guests, func(g Guest) bool {
			params := g.Params()
			return params != nil && urlOf(params) == packed.GetTypeUrl()
		})
		if !known {
			return types.ErrInvalidConfig.Wrapf("policy_params: this chain has registered nothing with the parameters %.80s", packed.GetTypeUrl())
		}
	}
	return nil
}
