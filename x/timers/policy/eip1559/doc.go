// Package eip1559 holds the rules of policy eip1559 (x/timers/docs/market.md). The lane has a basefee of its own,
// which rises while the lane is full and falls while it is empty. Every fire pays it in addition to the chain's
// basefees, and pays a tip to the proposer.
//
// # Price
//
// Amounts are per cycle, in fee denom:
//
//	fee      = lane basefee × Multiplier, truncated in favour of the payer
//	priority = min(max priority, max fee − fee), what the fire tips
//	charge   = chain's cycle basefee + fee + priority
//
// The max fee bounds fee and priority together, and not the chain's basefee, which every transaction pays as well.
// A timer whose max fee is below the fee is priced out: it stays ready, and can fire when the basefee has fallen.
//
// A timer that states no price gets the default bid or that of its tier (policy.Estimate). These follow the
// basefee. At a Multiplier of at most 2 they are therefore never priced out.
//
// # Order
//
// Timers fire by effective priority: priority × fairness weight of the actor, the highest first. The product is an
// integer, in units of the 18th decimal and sixteenths, so that no two different priorities become equal by
// rounding. Equal products go by weight, and then by (due, seq). So where no timer tips, the actor with the fewest
// recent fires is first.
//
// # Index
//
// Under overload more timers are ready than a block can read. Then those that were admitted are kept in lists,
// whose orders do not depend on the basefee, and Index returns the best of all of them. Its order is that of
// Rules.Order, as long as it may read on.
//
// No entry moves when the basefee changes: a change of the price writes nothing. An entry holds all that its timer's
// rank needs, so that a block reads the records only of the timers that it tries.
//
// A timer with stated prices pays min(max priority, max fee − fee). No single order of such timers is right at every
// fee. They are therefore sorted into buckets by max fee − max priority, the slack. Within a bucket all timers pay
// their max priority, or all pay what the fee leaves of their max fee, unless the fee is within the bucket. Only for
// the latter are two lists of a bucket read.
package eip1559
