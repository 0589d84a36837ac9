package market

import (
	"context"

	"cosmossdk.io/math"
)

// pageEntries is the number of entries read at a time after the head of a list. It is small, since entries that are
// read and not returned are wasted: under bids that differ most lists win once or twice. Further down a list a page is a
// third of what was read of it, up to longPage: to open an iterator takes as long as to read many entries.
const (
	pageEntries = 2
	longPage    = 64
)

// turnPages is the number of pages read from the list that bounds a source before one page of another of its lists is
// read.
const turnPages = 4

// Ranked is the place of a timer among others, or a bound on the places of several.
type Ranked[R any] interface {
	// Compare is negative if the receiver comes before the other. Invariant: it is a total order, and ranks of
	// different timers differ. Otherwise the order of equal timers would depend on how the lists were read.
	Compare(other R) int
	// Negative reports whether a bound is so low that no timer at or behind it may fire.
	Negative() bool
}

// Ranker ranks entries at the prices of one block. Its answers must not change while a Merge uses it.
type Ranker[R any] interface {
	// Rank is the place of the entry's timer; false if it may not fire. All entries of one timer that are opened in
	// one source must have the same rank.
	Rank(entry ListEntry) (rank R, ok bool)
	// Bound is at or before the rank of every timer that comes after the entry in its list.
	Bound(last ListEntry) R
}

// Merge returns timers by rank, best first. It holds no iterator open, so that the store may change between two calls
// of Next. A timer that was removed from the store meanwhile may still be returned, and one that was added may be
// missed. Neither affects the others.
type Merge[R Ranked[R]] struct {
	// store holds the lists, ranker ranks what is read of them.
	store  ListStore
	ranker Ranker[R]

	// found holds the entries that were read and not yet returned; sources holds the lists that may have more. A
	// source ranks by the bound on what it has not shown.
	found   heap[R, ListEntry]
	sources heap[R, *source[R]]
	// returned holds the timers that were put back, by seq. Their entries in the store are skipped from then on.
	// Invariant: it and the sets of the sources are only looked up, never ranged over.
	returned map[uint64]bool
	// readsLeft is how many more entries may be read beyond the heads. Invariant: it is not negative.
	readsLeft int
	// Heads counts the entries that were read as the first of a list, Read those that were read beyond.
	Heads, Read int
}

// source is one list, or several that hold the same timers in different orders. Several are needed where no single
// order is that of the ranks. A timer that none of the lists has shown yet is behind the bound of each of them.
type source[R Ranked[R]] struct {
	// open reads the heads of a source that was only announced; nil once it is open.
	open func(ctx context.Context) ([]ListEntry, error)
	// cursors has one for each list. Invariant: there is at least one in an open source.
	cursors []cursor[R]
	// since is the number of pages read from the list that bounds the source since a page of another list was read.
	// Invariant: at most turnPages.
	since int
	// seen holds the timers that were read, by seq, where several lists hold the same ones; nil for a single list.
	seen map[uint64]bool
}

// cursor is the last entry that was read of a list. Invariant: what comes after it is at or after bound.
type cursor[R Ranked[R]] struct {
	last  ListEntry
	bound R
	// read is how many entries were read after the head.
	read int
}

// page is how many entries to read next.
func (c *cursor[R]) page() int { return min(max(pageEntries, c.read/3), longPage) }

// NewMerge returns a merge without sources; Open adds them. At most maxReads entries are read beyond the heads. After that,
// only entries already read are returned, in order. So an attacker that hides the best timer of a source behind many
// others can overtake it, but cannot stop the merge from returning what it has read.
func NewMerge[R Ranked[R]](store ListStore, ranker Ranker[R], maxReads int) *Merge[R] {
	return &Merge[R]{store: store, ranker: ranker, returned: map[uint64]bool{}, readsLeft: maxReads}
}

// Head reads the first entry of a list, or what Store.First returns instead, and counts it.
func (m *Merge[R]) Head(ctx context.Context, list List) (ListEntry, bool, error) {
	head, found, err := m.store.First(ctx, list)
	if found {
		m.Heads++
	}
	return head, found, err
}

// Open adds a source that starts at the heads of its lists. It reads nothing itself. Several lists must hold the same
// timers: at the end of one of them, the source has shown all its timers and is dropped. All sources must be opened or
// announced before the first call of Next, since a later one could hold a timer that ranks before those already returned.
func (m *Merge[R]) Open(heads ...ListEntry) {
	if len(heads) == 0 {
		return
	}
	s := &source[R]{}
	if len(heads) > 1 {
		s.seen = map[uint64]bool{}
	}
	for _, head := range heads {
		s.cursors = append(s.cursors, cursor[R]{last: head, bound: m.ranker.Bound(head)})
		m.takeFrom(s, head)
	}
	m.follow(s)
}

// Announce adds a source that is opened only if a timer at its bound would be the next. The bound is at or before the rank
// of each of its timers. Open reads its heads, as Open takes them, or none if its lists turn out to be empty. Heads are
// read however many entries were read beyond them: their number is that of the lists.
func (m *Merge[R]) Announce(bound R, open func(ctx context.Context) ([]ListEntry, error)) {
	if !bound.Negative() {
		m.sources.push(bound, &source[R]{open: open})
	}
}

// Next returns the best remaining timer, by the entry of one of its lists. If no more may be read, it is the best of
// those read. It is false if there is none.
func (m *Merge[R]) Next(ctx context.Context) (ListEntry, bool, error) {
	// A source whose bound equals the best rank read holds no better timer, since ranks differ by seq. Each round opens a
	// source, reads an entry or drops a source, so that the loop ends.
	for len(m.sources) > 0 && (len(m.found) == 0 || m.sources[0].rank.Compare(m.found[0].rank) < 0) {
		if err := m.proceed(ctx, m.sources.pop()); err != nil {
			return ListEntry{}, false, err
		}
	}
	if len(m.found) == 0 {
		return ListEntry{}, false, nil
	}
	return m.found.pop(), true, nil
}

// Return puts back a timer that was returned with an outdated entry, with the entry that it has now. It is returned
// once more by Next, whether its entries in the store change or not.
func (m *Merge[R]) Return(entry ListEntry) {
	m.returned[entry.Seq] = true
	m.take(entry)
}

// proceed opens a source, or reads on in one that is open. One in which no more may be read is dropped.
func (m *Merge[R]) proceed(ctx context.Context, s *source[R]) error {
	switch {
	case s.open != nil:
		heads, err := s.open(ctx)
		m.Open(heads...)
		return err
	case m.readsLeft > 0:
		return m.advance(ctx, s)
	default:
		return nil
	}
}

// advance reads the next page of one list of the source. A source of which a list has ended is dropped: its lists hold
// the same timers, so that all of them have been shown.
func (m *Merge[R]) advance(ctx context.Context, s *source[R]) error {
	c := &s.cursors[s.nextCursor()]
	page, err := m.store.After(ctx, c.last, min(c.page(), m.readsLeft))
	if err != nil || len(page) == 0 {
		return err
	}
	m.Read += len(page)
	m.readsLeft -= len(page)
	for _, entry := range page {
		m.takeFrom(s, entry)
	}
	last := page[len(page)-1]
	*c = cursor[R]{last, m.ranker.Bound(last), c.read + len(page)}
	m.follow(s)
	return nil
}

// nextCursor is the cursor to read on from. Usually it is the lowest, since reading there lowers the bound of the
// source at once. After turnPages of it, it is the next one. One list may hold thousands of equal prices where another
// ends after a few, and it is not known which. So no list is read much further than another.
func (s *source[R]) nextCursor() int {
	lowest := s.lowest()
	if s.since++; s.since > turnPages {
		s.since = 0
		return (lowest + 1) % len(s.cursors)
	}
	return lowest
}

// lowest is the cursor whose bound comes last. A timer that no cursor has passed is behind all bounds. The last one is
// therefore the tightest, and is the bound of the source.
func (s *source[R]) lowest() int {
	lowest := 0
	for i := range s.cursors {
		if s.cursors[i].bound.Compare(s.cursors[lowest].bound) > 0 {
			lowest = i
		}
	}
	return lowest
}

// follow keeps a source in the merge, unless none of the timers that it still holds may fire.
func (m *Merge[R]) follow(s *source[R]) {
	if bound := s.cursors[s.lowest()].bound; !bound.Negative() {
		m.sources.push(bound, s)
	}
}

// takeFrom takes an entry of a source, unless its timer was taken before: from another list of the source, or by
// Return.
func (m *Merge[R]) takeFrom(s *source[R], entry ListEntry) {
	if m.returned[entry.Seq] {
		return
	}
	if s.seen != nil {
		if s.seen[entry.Seq] {
			return
		}
		s.seen[entry.Seq] = true
	}
	m.take(entry)
}

// take ranks an entry that was read, and drops one that may not fire.
func (m *Merge[R]) take(entry ListEntry) {
	if rank, ok := m.ranker.Rank(entry); ok {
		m.found.push(rank, entry)
	}
}

// heap is a binary heap by rank, the best first: the children of item i are 2i + 1 and 2i + 2, and neither ranks before
// it. push and pop take O(log n) comparisons. The standard library's heap is not used because it boxes every item, and
// a block under overload pushes thousands.
type heap[R Ranked[R], T any] []ranked[R, T]

// ranked is an item with its rank, which is computed once.
type ranked[R Ranked[R], T any] struct {
	rank R
	item T
}

func (h heap[R, T]) before(i, j int) bool { return h[i].rank.Compare(h[j].rank) < 0 }

// push adds an item at the end and moves it up until its parent does not rank after it.
func (h *heap[R, T]) push(rank R, item T) {
	*h = append(*h, ranked[R, T]{rank, item})
	s := *h
	for i := len(s) - 1; i > 0; {
		above := (i - 1) / 2
		if !s.before(i, above) {
			return
		}
		s[i], s[above] = s[above], s[i]
		i = above
	}
}

// pop removes and returns the best item of a heap that is not empty. The last item takes its place and moves down until
// none of its children ranks before it.
func (h *heap[R, T]) pop() T {
	s := *h
	first, last := s[0].item, len(s)-1
	s[0] = s[last]
	// The slot beyond the end is cleared, so that the garbage collector can free what it held.
	s[last] = ranked[R, T]{}
	s = s[:last]
	*h = s
	for i := 0; ; {
		best := i
		for below := 2*i + 1; below <= 2*i+2 && below < last; below++ {
			if s.before(below, best) {
				best = below
			}
		}
		if best == i {
			return first
		}
		s[i], s[best] = s[best], s[i]
		i = best
	}
}

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
