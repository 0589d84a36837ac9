// Package policies names the policies.
package policies

import (
	"example.test/chain/x/timers/market"
	"example.test/chain/x/timers/market/fifo"
	"example.test/chain/x/timers/market/tip"
	"example.test/chain/x/timers/types"
)

// InForce returns the policy of the config.
func InForce(config types.TimerConfig) market.Policy {
	switch config.Policy {
	case types.PolicyFIFO:
		return fifo.Rules{}
	case types.PolicyTip:
		return tip.Rules[uint32]{Weight: config.Tip.Weight}
	}
	return nil
}
