package market

import (
	"context"

	"cosmossdk.io/math"
)

// List names a list. Its upper half is a weight, its lower half a kind. The policy that keeps the list defines what
// they mean. Names order by weight first, so that all lists of one weight are adjacent in a store. Names are part of
// stored keys and must not change.
type List uint32

// kindBits is the part of a list's name below the weight.
const kindBits = 16

// WideWeight is the least weight of wide lists. It splits the weights in two ranges: narrow lists are ordered by a
// price per cycle, wide ones by a larger number, such as a score.
const WideWeight = 1 << (16 - 1)

const (
	// NarrowBytes is the length of a price in a narrow list: 2^128 units of the 18th decimal. Valid prices are
	// below 2^120.
	NarrowBytes = 16
	// WideBytes is the length of a price in a wide list: below 2^192, for numbers that no price per cycle reaches.
	WideBytes = 24
)

// MakeList is the name of a list. Weight and kind must be below 2^16.
func MakeList(weight, kind uint32) List { return List(weight<<kindBits | kind) }

// ListOfWeight is the first list of a weight, that of kind 0.
func ListOfWeight(weight uint32) List { return MakeList(weight, 0) }

// Weight is the upper half of the name.
func (l List) Weight() uint32 { return uint32(l) >> kindBits }

// Kind is the lower half of the name.
func (l List) Kind() uint32 { return uint32(l) & (1<<kindBits - 1) }

// Wide reports whether the prices of the list have WideBytes.
func (l List) Wide() bool { return l.Weight() >= WideWeight }

// PriceBytes is the length of the prices that the list is ordered by. All keys of one list have one length, so that
// their bytes order as the numbers do.
func (l List) PriceBytes() int {
	if l.Wide() {
		return WideBytes
	}
	return NarrowBytes
}

// ListEntry is one timer in one list, as the store keeps it. It holds all that ranks the timer, so that a timer's record is
// read only when the timer is tried.
type ListEntry struct {
	// List that holds it.
	List List
	// Price is what the list orders by, descending, before (due, seq). Invariant: it is not negative and has at
	// most List.PriceBytes, in units of the 18th decimal.
	Price math.LegacyDec
	// Other is a second price that the timer states and the list does not order by; zero if there is none.
	Other math.LegacyDec
	// Due and Seq are the timer's place in the queue. Invariant: no two timers share a seq, and a timer has at most
	// one entry in a list.
	Due, Seq uint64
}

// Same reports whether two entries say the same of a timer.
func (e ListEntry) Same(other ListEntry) bool {
	return e.List == other.List && e.Due == other.Due && e.Seq == other.Seq && e.Price.Equal(other.Price) && e.Other.Equal(other.Other)
}

// ListStore is the ordered index: lists by name, and within a list entries by (price descending, due, seq).
type ListStore interface {
	// First returns the first entry of a list. If the list is empty, it may return that of a later list, or false.
	First(ctx context.Context, from List) (ListEntry, bool, error)
	// After returns at most n entries of the entry's list that come after it, in order. The entry itself need no
	// longer be in the list: its place is known from its fields. No entries mean that the list has ended.
	After(ctx context.Context, entry ListEntry, n int) ([]ListEntry, error)
}

// ListSummary is what an index keeps of its lists, so that most of them need not be opened: of each a bound on its prices.
type ListSummary interface {
	ListStore
	// Bounds passes every list that may hold an entry and is summarized to fn, in the order of their names, with a price
	// that is at or above all of its entries'. What fn does must not change the index.
	Bounds(ctx context.Context, fn func(list List, price math.LegacyDec)) error
	// Lower replaces the bound of a list by a lower one, which must hold as well.
	Lower(ctx context.Context, list List, price math.LegacyDec) error
	// Drop forgets a list that is empty.
	Drop(ctx context.Context, list List) error
}
