// Package tip holds the rules of policy tip: timers fire by effective tip, what a fire pays per cycle above the
// chain's basefee (x/timers/docs/use/market.md, "Policy tip").
//
// # Price and order
//
// Amounts are per cycle, in fee denom:
//
//	effective tip = min(max priority, max fee − chain's cycle basefee)
//	charge        = chain's cycle basefee + effective tip
//
// A timer whose max fee is below the basefee is priced out and stays ready. The highest tip fires first. Ties go by
// a weight of the actor, which is computed from the results of its fires in earlier epochs (WeightRule), and then by
// (due, seq).
//
// # Slices
//
// The lane's cycles are divided among the competing actors in proportion to the same weights (market.Slices), so that one
// owner with many timers cannot fill the lane. A slice binds only while others wait: what slices leave unused goes to
// the candidates that were passed over, in order.
//
// # Weights
//
// Weights reward tips, success, few cycles, and waiting. The config bounds them. In epochs without fires to score, a
// weight returns towards the neutral one. An actor that waited for too long without any fire has at least the floor,
// so that a low weight cannot starve it.
package tip
