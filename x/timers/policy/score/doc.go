// Package score holds the rules of policy score: timers fire by a weighted sum of age, bid and rank, and actors
// take turns where that is equal (x/timers/docs/market.md, "Policy score").
//
// # Order
//
// The score of a timer is
//
//	score = Age × (height − due) + Bid × bid − Rank × seq
//
// The rank grows with the age of a timer's record. It is −seq, which grows towards older timers without a fixed
// point to count from: only differences matter. An update of a timer renews seq, and so puts it behind all others.
//
// Every block adds the same amount, Age, to every score, so that the order of two timers never changes while they
// wait. They differ in their timeless scores:
//
//	timeless score = Bid × bid − Age × due − Rank × seq
//
// It is an integer in units of the 18th decimal, and exact, since it is a sum of products of a decimal and an
// integer.
//
// Timers of equal score take turns: the one whose actor fired least in the fairness window is first, and no actor
// gets a second turn before all others that fired as little had one. At the default weights most scores of one
// height are equal.
//
// # Price
//
// A fire pays the chain's basefees, and its bid as a lump sum to the proposer. No timer is priced out.
//
// # Index
//
// Under overload more timers are ready than a block can read. Then those that were admitted are kept in one list in
// the order of their timeless scores, and Queue hands them out. A key in the list is
//
//	timeless score + 2^160, in KeyBytes, big-endian
//
// so that the bytes of keys order as the scores do. Governance may change the weights, which changes every score.
// The list is not rewritten then: a new one is begun, and timers move to it in steps that a block can afford.
package score
