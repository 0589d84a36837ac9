// Package auction holds the rules of policy auction: timers bid a sum, which they lock when scheduled, and compete
// by what they bid and how long they have waited, per unit of gas (x/timers/docs/use/auction.md).
//
// # Order
//
// A timer ranks by
//
//	(bid + e^(λ × n)) ÷ gas limit
//
// where n is the number of blocks since it became due. The second term, the bias, grows without bound. So a timer
// that waits passes any bid in the end: after at most ln((bid + 1) × ratio of gas limits) ÷ λ blocks, rounded up.
// Two ranks are compared by cross products of integers, without rounding. Equal ones go by (due, seq).
//
// Exp computes the bias up to an exponent of MaxExponent. There the bias is larger than any bid times any ratio of
// gas limits. A timer that has waited so long is aged: it comes before all that are not, and age alone decides among
// the aged.
//
// # Payment
//
// A fire pays for its cycles and cells as under fifo. For its place it pays in addition, out of its locked bid:
//
//   - under first_price, the whole bid;
//   - under vcg, the least bid with which it would still have come before the runner-up, the first candidate behind it that
//     found no room; and at least the reserve price, unless it bids less.
//
// It never pays more than its bid. With equal gas limits, and without a reserve price, truthful bidding is a
// dominant strategy within a block: no bidder gains by bidding another sum than what its fire is worth. With unequal
// gas limits some can; the tests show by how much, and auction.md states it ("What to bid").
//
// The exact knapsack auction would be truthful for unequal gas limits too. It is not used because its winners take
// exponential time to find, and a block must have a bound on its work.
//
// # Lambda
//
// A large λ makes waiting as good as bidding, so that no owner has a reason to bid. A small λ makes those who bid
// little wait for long. LambdaLoop adjusts λ to the fires of each block and keeps it between the two.
package auction
