package bids

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cosmos-timers/timers/x/timers/client/plain"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// readBy are the policies that read a parameter which is no policy's own, where not every policy does.
var readBy = map[string][]types.Policy{
	"max_cycles_per_fire":    {types.PolicyFIFO, types.PolicyAuction, types.PolicyScore, types.PolicyTip},
	"priority_tiers":         {types.PolicyEIP1559, types.PolicyTip},
	"tier_tip_cap":           {types.PolicyEIP1559, types.PolicyTip},
	"fairness_window_blocks": {types.PolicyEIP1559, types.PolicyScore},
	"fairness_unit":          {types.PolicyEIP1559, types.PolicyScore},
	"weight_min":             {types.PolicyEIP1559},
	"weight_max":             {types.PolicyEIP1559},
	"median_smoothing":       {types.PolicyEIP1559},
	"agent.cycles_per_call":  {types.PolicyEIP1559, types.PolicyTip},
	"agent.cycles_per_block": {types.PolicyEIP1559, types.PolicyTip},
}

// instead are the parameters that a policy reads in place of those that it does not.
var instead = map[types.Policy]map[string]string{
	types.PolicyEIP1559: {"max_cycles_per_fire": "eip1559.max_cycles_per_fire_auction"},
	types.PolicyTip:     {"weight_min": "tip.weight_min", "weight_max": "tip.weight_max"},
}

// NoEffect says of a parameter that the policy in force at a height does not read it, and which one it reads instead; empty for
// one that it reads, and for a policy that this client does not know.
func NoEffect(c *types.TimerConfig, parameter string, height uint64) string {
	policy := c.Policy
	rule, known := rules[policy]
	if !known {
		return ""
	}
	if rule.starts != nil && !rule.starts(c, height) {
		policy = types.PolicyFIFO
	}
	name, has := plain.PolicyName(policy), readBy[parameter]
	owner, _, owned := strings.Cut(parameter, ".")
	if has == nil {
		// One of several that are told of together, such as priority_tiers.fast.
		has = readBy[owner]
	}
	switch {
	case has != nil && slices.Contains(has, policy):
		return ""
	case has == nil && (!owned || owner == name || !ofPolicy(owner)):
		return ""
	}
	text := fmt.Sprintf("%s has no effect under policy %s", parameter, name)
	if policy != c.Policy {
		text += fmt.Sprintf(", which is in force until %s starts", plain.PolicyName(c.Policy))
	}
	other := instead[policy][parameter]
	if has == nil {
		// One of another policy's own: what stands for it here may be the common one.
		for common, own := range instead[policyOf(owner)] {
			if own == parameter {
				other = common
			}
		}
	}
	if other != "" {
		text += ": " + other + " is in force instead"
	}
	return text
}

// ofPolicy tells whether parameters of this prefix are a policy's own.
func ofPolicy(prefix string) bool { return policyOf(prefix) != types.PolicyUnspecified }

func policyOf(name string) types.Policy {
	for policy := range rules {
		if plain.PolicyName(policy) == name {
			return policy
		}
	}
	return types.PolicyUnspecified
}
