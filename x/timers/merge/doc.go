// Package merge reads ordered lists side by side and hands out what they hold by rank, best first. It serves
// policies under overload, when more timers are ready than a block can read (x/timers/README.md, "5.4
// Candidates").
//
// Timers are stored in lists, and each list has an order that never changes. What a timer is worth may depend on
// the prices of the block; the order of its list does not, and what was read of a list bounds the worth of the
// rest. So the best of all timers are found by reading hardly more entries than are handed out, and no entry moves
// when a price does.
//
// What a rank is belongs to the policy: the package is generic over it.
//
// # How it reads
//
// A source is a list, or several lists that hold the same timers in different orders. Its bound is at or before the
// rank of every timer that it has not shown yet. Two heaps hold what was read and not handed out, by rank, and the
// sources that may hold more, by bound. Next hands out the best entry that was read, once no source has a bound
// before it; until then it reads a page of the source with the best bound.
//
// With s sources, and where the order of a list is that of the ranks, n timers cost s heads, and n and a page for
// each source entries beyond them, at most. The order is exact as long as reads are left.
package merge
