// Package tip fires by tip.
package tip

// Rules of the policy.
type Rules[T any] struct{ Weight T }

// Less implements market.Policy.
func (Rules[T]) Less(a, b uint64) bool { return a > b }

// Slice implements market.Slicer.
func (Rules[T]) Slice() uint64 { return 1 }

// Sharer is what shares the lane out.
type Sharer interface{ Slice() uint64 }
