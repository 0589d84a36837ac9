package policy

import "math/bits"

// Slicer is a policy that shares the lane out among the actors who compete.
type Slicer interface {
	// Slices are the parts of the lane of a block in which the candidates in order are tried.
	Slices(candidates []Candidate, order []int) Slices
}

// Slices are parts of the lane's cycles, by actor. While a block goes through its candidates for the first time an actor's
// fires stay within its slice; what slices leave unused goes in order to those that were passed over for that. So no cycle is
// idle while somebody waits who fits, and others can't take an actor's slice but by their first fires, which no slice binds.
//
// None of them, the zero value, admits everybody.
type Slices map[string]*slice

type slice struct {
	// cycles of the lane that are the actor's, used those that its fires took.
	cycles, used uint64
	fired        bool
}

// NewSlices shares capacity out among the actors of the candidates in order, in proportion to their weights, rounded down.
// Every candidate of an actor has the actor's weight.
func NewSlices(capacity uint64, candidates []Candidate, order []int) Slices {
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

// Admits tells whether the actor's slice leaves room for a fire of gasLimit. Its first fire it always admits: a slice may be
// smaller than any gas limit, and who competes gets a turn.
func (s Slices) Admits(actor string, gasLimit uint64) bool {
	part := s[actor]
	return part == nil || !part.fired || part.used+gasLimit <= part.cycles
}

// Spend books a fire of the actor.
func (s Slices) Spend(actor string, cycles uint64) {
	if part := s[actor]; part != nil {
		part.used += cycles
		part.fired = true
	}
}
