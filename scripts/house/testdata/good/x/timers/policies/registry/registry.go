// Package registry names the policies.
package registry

import (
	"example.test/chain/x/timers/policy"
	"example.test/chain/x/timers/policy/fifo"
	"example.test/chain/x/timers/policy/tip"
	"example.test/chain/x/timers/types"
)

// InForce returns the policy of the config.
func InForce(config types.TimerConfig) policy.Policy {
	switch config.Policy {
	case types.PolicyFIFO:
		return fifo.Rules{}
	case types.PolicyTip:
		return tip.Rules[uint32]{Weight: config.Tip.Weight}
	}
	return nil
}
