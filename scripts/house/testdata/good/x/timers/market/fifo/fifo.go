// Package fifo fires by age.
package fifo

// Rules of the policy.
type Rules struct{}

// Less implements market.Policy.
func (Rules) Less(a, b uint64) bool { return a < b }
