// Package tip holds the rules of policy tip: timers fire by effective tip, what a fire pays per cycle above the
// chain's basefee (x/timers/docs/market.md, "Policy tip").
//
// # Price and order
//
// Amounts are per cycle, in fee denom:
//
//	effective tip = min(max priority, max fee − chain's cycle basefee)
//	charge        = chain's cycle basefee + effective tip
//
// A timer whose max fee is below the basefee is priced out and stays ready. The highest tip fires first. Ties go by
// a weight of the actor, which follows from how its fires of earlier epochs went (WeightRule), and then by (due,
// seq).
//
// # Slices
//
// The lane is shared out among the actors that compete, in proportion to the same weights (Slices), so that a crowd
// of one owner cannot fill it. A slice binds only while others wait: what slices leave unused goes to the
// candidates that were passed over, in order.
//
// # Weights
//
// Weights reward tips, success, few cycles, and patience. They lie between bounds that a config sets, and go back
// to the neutral weight while an actor has nothing to score. An actor that waited for too long without any fire has
// at least the floor, so that no weight starves it.
package tip
