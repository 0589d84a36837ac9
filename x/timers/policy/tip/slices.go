package tip

import (
	"math/bits"

	"github.com/cosmos-timers/timers/x/timers/policy"
)

// Slices are parts of the lane's cycles, by actor. While a block goes through its candidates for the first time, an
// actor's fires stay within its slice. What slices leave unused goes, in order, to the candidates that were passed
// over for their slice. So no cycle is idle while a timer waits that fits. An actor can take from another's slice
// only by its first fire, which no slice bounds.
//
// The zero value has no slices and admits every actor.
type Slices map[string]*slice

type slice struct {
	// cycles of the lane that the actor may use, and those that its fires used.
	cycles, used uint64
	fired        bool
}

// NewSlices shares capacity out among the actors of the candidates in order, in proportion to their weights. Each
// slice is rounded down, so that together they never exceed the capacity. Invariant: every candidate of an actor
// has the same weight.
func NewSlices(capacity uint64, candidates []policy.Candidate, order []int) Slices {
	s := make(Slices, len(order))
	total := uint64(0)
	for _, i := range order {
		if s[candidates[i].Actor] == nil {
			s[candidates[i].Actor] = &slice{}
			total += uint64(candidates[i].Weight)
		}
	}
	if total == 0 {
		return s
	}
	for _, i := range order {
		// The product has up to 82 bits; its quotient is at most capacity, since a weight is at most the total.
		high, low := bits.Mul64(capacity, uint64(candidates[i].Weight))
		s[candidates[i].Actor].cycles, _ = bits.Div64(high, low, total)
	}
	return s
}

// Admits tells whether the actor's slice leaves room for a fire of gasLimit cycles. An actor's first fire is always
// admitted: a slice may be smaller than any gas limit, and every actor that competes gets a turn.
func (s Slices) Admits(actor string, gasLimit uint64) bool {
	part := s[actor]
	return part == nil || !part.fired || part.used+gasLimit <= part.cycles
}

// Spend books a fire of the actor that used so many cycles.
func (s Slices) Spend(actor string, cycles uint64) {
	if part := s[actor]; part != nil {
		part.used += cycles
		part.fired = true
	}
}
