package merge

import "context"

// pageEntries is how many entries are read at a time once a list proved worth more than its head. It is small,
// since what is read and not handed out is wasted; it is more than one, since every read is a seek.
const pageEntries = 4

// turnPages is how many pages are read of the list that bounds a source for each page of another list of it.
const turnPages = 4

// Rank is the place of a timer among others, or a bound on the places of several.
type Rank[R any] interface {
	// Compare is negative if the receiver comes before the other.
	Compare(other R) int
	// Negative tells that a bound is so low that no timer at or behind it may fire.
	Negative() bool
}

// Ranker ranks entries at the prices of one block. It must give the same answers throughout the life of a Merge.
type Ranker[R any] interface {
	// Rank is the place of the entry's timer; false if it may not fire. All entries of one timer that are opened in
	// one source must have the same rank.
	Rank(entry Entry) (rank R, ok bool)
	// Bound is at or before the rank of every timer that comes after the entry in its list.
	Bound(last Entry) R
}

// Merge hands out timers by rank, best first. It holds no iterator open: between two calls of Next the store may
// change. A timer that left the store meanwhile may still be handed out, and one that came may be missed; neither
// disturbs the others.
type Merge[R Rank[R]] struct {
	// store holds the lists, ranker ranks what is read of them.
	store  Store
	ranker Ranker[R]

	// found holds entries that were read and not handed out, sources those lists that may hold more. A source ranks
	// by the bound of what it still holds.
	found   heap[R, Entry]
	sources heap[R, *source[R]]
	// returned holds the timers that were put back, by seq. Their entries in the store are skipped from then on.
	returned map[uint64]bool
	// readsLeft is how many more entries may be read beyond the heads.
	readsLeft int
	// Heads counts the entries that were read as the first of a list, Read those that were read beyond.
	Heads, Read int
}

// source is one list, or several that hold the same timers in different orders. Where neither order alone is that
// of the timers' ranks, a timer that none of the lists has shown yet ranks behind the bounds of all of them.
type source[R Rank[R]] struct {
	// cursors has one for each list. Invariant: there is at least one.
	cursors []cursor[R]
	// since is how many pages were read of the list that bounds the source since one was read of another.
	since int
	// seen holds the timers that were read, by seq, where several lists hold the same ones; nil for a single list.
	seen map[uint64]bool
}

// cursor is the last entry that was read of a list. Invariant: what comes after it is at or after bound.
type cursor[R Rank[R]] struct {
	last  Entry
	bound R
}

// New is a merge without any source: Open adds them. At most maxReads entries are read beyond the heads. When that
// is used up, the order is that of what was read: an attacker that hides the best timer of a source behind many
// others can overtake it, but cannot keep the merge from handing out what it has read.
func New[R Rank[R]](store Store, ranker Ranker[R], maxReads int) *Merge[R] {
	return &Merge[R]{store: store, ranker: ranker, returned: map[uint64]bool{}, readsLeft: maxReads}
}

// Head reads the first entry of the first list that is not empty, from the named one on, and counts it.
func (m *Merge[R]) Head(ctx context.Context, from List) (Entry, bool, error) {
	head, found, err := m.store.First(ctx, from)
	if found {
		m.Heads++
	}
	return head, found, err
}

// Open starts a source at the heads of its lists. Several lists must hold the same timers: where one of them ends,
// the source has shown all of its timers and is dropped.
func (m *Merge[R]) Open(heads ...Entry) {
	if len(heads) == 0 {
		return
	}
	s := &source[R]{}
	if len(heads) > 1 {
		s.seen = map[uint64]bool{}
	}
	for _, head := range heads {
		s.cursors = append(s.cursors, cursor[R]{head, m.ranker.Bound(head)})
		m.takeFrom(s, head)
	}
	m.follow(s)
}

// Next hands out the best timer left, or the best that was read if no more may be, by the entry of one of its
// lists. It is false if there is none.
func (m *Merge[R]) Next(ctx context.Context) (Entry, bool, error) {
	// A source whose bound equals the best rank that was read can't hold a better timer: ranks differ by seq.
	for m.readsLeft > 0 && len(m.sources) > 0 && (len(m.found) == 0 || m.sources[0].rank.Compare(m.found[0].rank) < 0) {
		if err := m.advance(ctx, m.sources.pop()); err != nil {
			return Entry{}, false, err
		}
	}
	if len(m.found) == 0 {
		return Entry{}, false, nil
	}
	return m.found.pop(), true, nil
}

// Return puts a timer back that was handed out with an outdated entry, with the entry that it has now. It is handed
// out once more, whether its entries in the store change or not.
func (m *Merge[R]) Return(entry Entry) {
	m.returned[entry.Seq] = true
	m.take(entry)
}

// advance reads on in one list of the source. A source that has nothing left is dropped.
func (m *Merge[R]) advance(ctx context.Context, s *source[R]) error {
	c := &s.cursors[s.turn()]
	page, err := m.store.After(ctx, c.last, min(pageEntries, m.readsLeft))
	if err != nil || len(page) == 0 {
		return err
	}
	m.Read += len(page)
	m.readsLeft -= len(page)
	for _, entry := range page {
		m.takeFrom(s, entry)
	}
	last := page[len(page)-1]
	*c = cursor[R]{last, m.ranker.Bound(last)}
	m.follow(s)
	return nil
}

// turn is the cursor to read on from. It is the lowest, since reading there lowers the bound of the source at once;
// but after turnPages of it, it is the next one. One list may hold thousands of equal prices where another ends
// after a few, and it is not known which, so that no list is read much further than another.
func (s *source[R]) turn() int {
	lowest := s.lowest()
	if s.since++; s.since > turnPages {
		s.since = 0
		return (lowest + 1) % len(s.cursors)
	}
	return lowest
}

// lowest is the cursor whose bound comes last. A timer that no cursor has passed is behind all of them, so that
// this bound is the bound of the source.
func (s *source[R]) lowest() int {
	lowest := 0
	for i := range s.cursors {
		if s.cursors[i].bound.Compare(s.cursors[lowest].bound) > 0 {
			lowest = i
		}
	}
	return lowest
}

// follow keeps a source in the merge, unless nothing that it still holds may fire.
func (m *Merge[R]) follow(s *source[R]) {
	if bound := s.cursors[s.lowest()].bound; !bound.Negative() {
		m.sources.push(bound, s)
	}
}

// takeFrom takes an entry of a source, unless its timer was taken before.
func (m *Merge[R]) takeFrom(s *source[R], entry Entry) {
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
func (m *Merge[R]) take(entry Entry) {
	if rank, ok := m.ranker.Rank(entry); ok {
		m.found.push(rank, entry)
	}
}
