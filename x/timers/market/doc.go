// Package market holds the pure rules of the lane: what a fire costs, what a block may spend, in which order timers fire
// under each policy, and what every kind of work weighs. Decimals and integers in, decimals and integers out, the same on every
// node: it reads no state and no clock. Blocks, queries and simulations call the same code, so what a query predicts is what a
// block does.
//
// Amounts are in fee denom. Cycles are units of gas, cells are written bytes (x/timers/README.md, "1.1 Units").
//
//   - Price, Basefee, Budget, Settlement and Intrinsic: the lane's arithmetic.
//   - Rules, Candidate, Prices, Ask, Bid and Rank: what all policies share. FIFO and EIP1559 are the rules of the module's
//     own. Those of guests are in packages below this one.
//   - WeightBounds and Median: fairness.
//   - Merge: the best of many lists, by reading little of them.
//   - Overhead and Work: the bound of what no one is billed for.
//
// # Policies
//
// A policy decides in which order ready timers fire and what each fire pays (x/timers/README.md, "1.7 Policy").
//
// # Policy fifo
//
// Timers fire in the order in which they became due, and at one height
// in the order of insertion. No bid, tip, gas limit or weight buys a place, so that no timer can be overtaken while
// it waits.
//
// A fire pays the chain's basefees only. Bids are kept in the timer's record, for a later policy, but not used.
//
// The queue of timers is stored in this order, so that the policy needs no index: a block reads the queue from its
// head, and stops where the lane is full. How long a timer waits depends on the backlog alone. That is also the
// weakness of the policy: an owner of many timers delays all others, and a timer that can't wait can't pay for it
// (x/timers/docs/operate/policies.md).
//
// # Policy eip1559
//
// The lane has a basefee of its own,
// which rises while the lane is full and falls while it is empty. Every fire pays it in addition to the chain's
// basefees, and pays a tip to the proposer.
//
// # Price under eip1559
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
// A timer that states no price gets the default bid or that of its tier (Estimate). These follow the
// basefee. At a Multiplier of at most 2 they are therefore never priced out.
//
// # Order under eip1559
//
// Timers fire by effective priority: priority × fairness weight of the actor, the highest first. The product is an
// integer, in units of the 18th decimal and sixteenths, so that no two different priorities become equal by
// rounding. Equal products go by weight, and then by (due, seq). So where no timer tips, the actor with the fewest
// recent fires is first.
//
// # Index of eip1559
//
// Under overload more timers are ready than a block can read. Then those that were admitted are kept in lists,
// whose orders do not depend on the basefee, and EIP1559Index returns the best of all of them. Its order is that of
// EIP1559.Order, as long as it may read on.
//
// No entry moves when the basefee changes: a change of the price writes nothing. An entry holds all that its timer's
// rank needs, so that a block reads the records only of the timers that it tries.
//
// A timer with stated prices pays min(max priority, max fee − fee). No single order of such timers is right at every
// fee. They are therefore sorted into buckets by max fee − max priority, the slack. Within a bucket all timers pay
// their max priority, or all pay what the fee leaves of their max fee, unless the fee is within the bucket. Only for
// the latter are two lists of a bucket read.
//
// # Fairness
//
// Actors are weighed by their recent fires (x/timers/README.md, "1.9 Fairness and agents"). An actor
// without recent fires has the largest weight, WEIGHT_MAX. Each multiple of the median that an actor has fired lowers
// its weight by 1, down to WEIGHT_MIN.
//
//   - Median keeps the median of the fires of all units, exactly, while they change one by one.
//   - SmoothMedian averages it over blocks.
//   - WeightBounds.Weight is the weight of one actor that follows from it.
//
// # Units of weights
//
// Weights are integers in sixteenths. That is coarse on purpose. Timers of equal weight can be stored in one ordered
// list, so that few lists have to be read. And a fire seldom changes a weight, so that timers seldom change lists.
//
// # Median
//
// The median is taken over the units that fired in the window, not over all actors. An attacker can therefore not lower
// it with addresses that never fire. Median keeps it exact at a bounded number of store operations for each change.
// SmoothMedian turns it into a moving average, so that one block with many fires of new units does not move all weights at
// once.
//
// # Merge
//
// Merge is a lazy merge of ordered lists: it reads them side by side and returns their entries by rank, best
// first. Policies use it under overload, when more timers are ready than a block can read (x/timers/README.md,
// "5.4 Candidates").
//
// Timers are stored in lists, and each list has an order that never changes. The rank of a timer may depend on the
// prices of the block. The order of its list does not, and the entries read from a list bound the ranks of the rest.
// So the best of all timers are found by reading little more than is returned, and no entry moves when a price
// changes.
//
// The policy defines what a rank is: Merge is generic over it.
//
// # How a merge reads
//
// A source is a list, or several lists that hold the same timers in different orders. Its bound is at or before the
// rank of every timer that it has not shown yet. One heap holds the entries that were read and not yet returned, by
// rank; another holds the sources that may have more, by bound. Next returns the best entry read once no source has a
// bound before it. Until then it reads a page of the source with the best bound.
//
// This is the threshold algorithm of top-k queries. It is correct because a source only gets worse: its bound never
// moves to a better rank as it is read.
//
// A source may be announced by its bound alone. It is opened when that bound is the best: in a storm of different bids there
// are hundreds of lists, of which few hold a timer that fires.
//
// # Cost of a merge
//
// Let there be s sources whose lists are in the order of the ranks. To return n timers, at most s heads are read, and
// beyond them n entries and a page for each source, of two entries or a third of what was read of it, 64 at most. A source
// of several lists may need more, because the same timer is read from each of them. The caller's limit holds for all that is
// read beyond the heads, of which there are as many as lists; the order is exact as long as reads are left. Each entry read
// costs O(log of the entries held) comparisons of ranks.
//
// # Overhead
//
// Overhead bounds the work at the end of a block that no one is billed for: reading ready timers, ranking them,
// trying those without funds, scanning those on hold, notifying watches, pruning (x/timers/README.md, "1.6 Lane").
//
// Each kind of work has a weight: the gas for which a bank send takes as long, rounded up. A benchmark measures the
// weights. Every loop at the end of a block asks the meter before it continues, and keeps its place when the meter refuses.
// So the longest block is the lane and OVERHEAD_CYCLES_PER_BLOCK, whatever was prepared for it. Removals have a budget of
// their own, GC_CYCLES_PER_BLOCK, which is a part of it (Cleanup).
package market
