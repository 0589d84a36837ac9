// Package market has what all policies share.
package market

// Policy puts timers in order.
type Policy interface {
	Less(a, b uint64) bool
}

// Slicer is a policy that shares the lane out.
type Slicer interface {
	Slice() uint64
}
