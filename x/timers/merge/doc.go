// Package merge is a lazy merge of ordered lists: it reads them side by side and returns their entries by rank, best
// first. Policies use it under overload, when more timers are ready than a block can read (x/timers/README.md,
// "5.4 Candidates").
//
// Timers are stored in lists, and each list has an order that never changes. The rank of a timer may depend on the
// prices of the block. The order of its list does not, and the entries read from a list bound the ranks of the rest.
// So the best of all timers are found by reading little more than is returned, and no entry moves when a price
// changes.
//
// The policy defines what a rank is: the package is generic over it.
//
// # How it reads
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
// # Cost
//
// Let there be s sources whose lists are in the order of the ranks. To return n timers, at most s heads are read, and
// beyond them n entries and a page for each source, of two entries or a third of what was read of it, 64 at most. A source
// of several lists may need more, because the same timer is read from each of them. The caller's limit holds for all that is
// read beyond the heads, of which there are as many as lists; the order is exact as long as reads are left. Each entry read costs O(log of the entries held) comparisons of ranks.
package merge
