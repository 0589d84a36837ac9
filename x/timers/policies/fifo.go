package policies

import (
	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// FIFO is policy fifo: timers fire in the order of the queue. It has no state of its own.
type FIFO struct{ Base }

var _ Policy = FIFO{}

// NewFIFO binds the policy.
func NewFIFO(*Parts) Policy { return FIFO{} }

// ID implements policies.Policy.
func (FIFO) ID() types.Policy { return types.PolicyFIFO }

// Traits implements policies.Policy.
func (p FIFO) Traits(config *types.TimerConfig) market.Traits {
	traits := p.Base.Traits(config)
	traits.QueueOrder = true
	return traits
}

// Rules implements policies.Policy.
func (FIFO) Rules(*types.TimerConfig, *types.LaneState) market.Rules { return market.FIFO{} }
