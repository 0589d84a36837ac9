package market

import "math/bits"

// Slices are parts of the lane's cycles, by actor. They apply in the first of two passes over the candidates of a
// block: there an actor's fires stay within its slice. In the second pass the candidates that did not fit their slice
// are tried again, in order, in what is left of the lane. So no cycle is idle while a timer that fits waits.
//
// The first fire of an actor is not bounded by its slice. Only by this fire can an actor take from another's slice.
//
// Slices are looked up by actor and never ranged over, because the order of a map differs between nodes. The zero
// value has no slices and admits every actor.
type Slices map[string]*slice

// slice is the part of one actor in one block.
type slice struct {
	// cycles of the lane that the actor may use in the first pass, and those that its fires used so far. used may
	// exceed cycles, by the first fire and by those of the second pass.
	cycles, used uint64
	// fired means that the actor has had its first fire of the block, the one that its slice does not bound.
	fired bool
}

// NewSlices divides capacity among the actors of the candidates in order, in proportion to their weights. The cost is
// linear in the candidates. Each slice is rounded down, so that their sum never exceeds the capacity. Invariant: every
// candidate of an actor has the same weight.
func NewSlices(capacity uint64, candidates []Candidate, order []int) Slices {
	s := make(Slices, len(order))
	total := uint64(0)
	for _, i := range order {
		if s[candidates[i].Actor] == nil {
			s[candidates[i].Actor] = &slice{}
			total += uint64(candidates[i].Weight)
		}
	}
	// Without weights there is no proportion: every slice is 0, and admits the first fire of its actor.
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

// Admits reports whether the actor's slice leaves room for a fire of size cycles. An actor's first fire is always
// admitted: with many actors a slice may be smaller than any gas limit, and each actor shall be able to fire.
func (s Slices) Admits(actor string, size uint64) bool {
	part := s[actor]
	return part == nil || !part.fired || part.used+size <= part.cycles
}

// Spend books a fire of the actor that used so many cycles: those used, not its gas limit.
func (s Slices) Spend(actor string, cycles uint64) {
	if part := s[actor]; part != nil {
		part.used += cycles
		part.fired = true
	}
}
