// Package score holds the rules of policy score: timers fire by a weighted sum of age, bid and rank, and actors
// take turns at equal sums (x/timers/docs/use/market.md, "Policy score").
//
// # Order
//
// The score of a timer is
//
//	score = Age × (height − due) + Bid × bid − Rank × seq
//
// The rank is −seq, so that older timers rank higher. It needs no origin to count from, since only differences
// between scores matter. An update assigns a new seq to a timer, and so ranks it behind all others.
//
// Every block adds the same amount, Age, to every score. So the order of two timers never changes while they wait,
// and an index of them need not be rewritten. What differs between timers is the timeless score:
//
//	timeless score = Bid × bid − Age × due − Rank × seq
//
// It is an integer in units of the 18th decimal, and exact, since it is a sum of products of a decimal and an
// integer. It may be negative.
//
// Timers of equal score take turns: the one whose actor fired least in the fairness window is first. No actor gets a
// second turn before every other actor with as few fires has had one. At the default weights most scores of one
// height are equal.
//
// # Price
//
// A fire pays the chain's basefees, and its bid as a lump sum to the proposer, whether its handler succeeds or not.
// No timer is priced out.
//
// # Index
//
// Under overload more timers are ready than a block can read. Then those that were admitted are kept in one list in
// the order of their timeless scores, and Queue reads it. A key in the list is
//
//	timeless score + 2^160, in KeyBytes, big-endian
//
// so that the bytes of keys order as the scores do. Governance may change the weights, which changes every score.
// Rewriting the list in one block would exceed any bound on its work. Instead a new list is begun, and a bounded
// number of timers move to it in each block.
package score
