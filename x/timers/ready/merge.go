package ready

import (
	"context"

	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/policy"
	"github.com/cosmos-timers/timers/x/timers/policy/eip1559"
)

// Store is the ordered index: lists by name, and within a list entries by (price descending, due, seq).
type Store interface {
	// First returns the first entry of the first list from the named one on; false if there is none.
	First(ctx context.Context, from List) (Entry, bool, error)
	// After returns at most n entries of the entry's list that come after it.
	After(ctx context.Context, entry Entry, n int) ([]Entry, error)
}

// pageEntries is how many entries are read at a time once a list proved worth more than its head: few, since what is read
// beyond what is taken is wasted, but not one, since every read is a seek.
const pageEntries = 4

// turnPages is how many pages of one list of a pair are read for each one of the other.
const turnPages = 4

// Merge hands out timers by rank, best first, and reads hardly more entries than it hands out. It holds no iterator open:
// between two calls of Next the index may change; a timer that left it meanwhile may still be handed out.
type Merge struct {
	store  Store
	policy eip1559.Rules
	prices policy.Prices

	// found are entries that were read and not handed out, sources those lists that may hold more.
	found   ranked[Entry]
	sources ranked[*source]
	// returned are the timers that were put back, by seq: their new entries may still be read.
	returned map[uint64]bool
	// readsLeft is how many more entries may be read.
	readsLeft int
	// Heads and Read count the entries that were read: the first of each list, and those beyond.
	Heads, Read int
}

// source is a list, or the two lists of one class of stated asks whose slack is about the lane's fee: some of them pay their
// tip, others what their fee leaves, and neither order alone is that of their worth.
type source struct {
	cursors []cursor
	// since is how many pages were read of the list that bounds the source since one was read of the other.
	since int
	// seen are the timers that were read, by seq, where two lists hold the same ones.
	seen map[uint64]bool
}

// cursor is the last entry that was read of a list. What comes after it is at or after rank.
type cursor struct {
	last Entry
	rank policy.Rank
}

// NewMerge opens the index at the prices of a block. At most maxReads entries are read beyond the heads of the lists. When
// that is used up, the order is that of what was read: whoever crowds a class with timers that hide the best one may so get
// in front of it, at the lane's fee, but can't stop the lane.
func NewMerge(ctx context.Context, store Store, eip eip1559.Rules, prices policy.Prices, maxReads int) (*Merge, error) {
	m := &Merge{store: store, policy: eip, prices: prices, returned: map[uint64]bool{}, readsLeft: maxReads}
	fee := eip.Fee(prices)
	for from := List(0); ; {
		head, found, err := m.head(ctx, from)
		if err != nil {
			return nil, err
		}
		if !found || head.List.Scored() {
			return m, nil
		}
		if !head.List.stated() {
			m.open(m.cursorAt(head))
			from = head.List + 1
			continue
		}
		weight, class := head.List.Weight(), head.List.class()
		from = statedList(weight, class+1, byTip)
		least, most := slackEdges(class)
		if least.GTE(fee) {
			m.open(m.cursorAt(head))
			continue
		}
		second, found, err := m.head(ctx, statedList(weight, class, byFee))
		if err != nil {
			return nil, err
		}
		switch {
		case !found:
			return m, nil
		case most.LT(fee):
			m.open(m.cursorAt(second))
		default:
			m.open(m.cursorAt(head), m.cursorAt(second))
		}
	}
}

func (m *Merge) head(ctx context.Context, from List) (Entry, bool, error) {
	head, found, err := m.store.First(ctx, from)
	if found {
		m.Heads++
	}
	return head, found, err
}

// Next hands out the best timer left, or the best that was read if no more may be, by the entry of one of its lists; false
// if there is none.
func (m *Merge) Next(ctx context.Context) (Entry, bool, error) {
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

// Return puts a timer back that was handed out under an outdated weight. It is handed out once more, whether its entries
// in the index change or not.
func (m *Merge) Return(entry Entry, weight uint32) {
	m.returned[entry.Seq] = true
	m.take(EntriesOf(entry.Ask(), weight, entry.Due, entry.Seq)[0])
}

// open starts a source at the heads of its lists.
func (m *Merge) open(cursors ...cursor) {
	s := &source{cursors: cursors}
	if len(cursors) > 1 {
		s.seen = map[uint64]bool{}
	}
	for _, c := range cursors {
		m.takeFrom(s, c.last)
	}
	m.follow(s)
}

// advance reads on in one list of the source.
func (m *Merge) advance(ctx context.Context, s *source) error {
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
	*c = m.cursorAt(page[len(page)-1])
	m.follow(s)
	return nil
}

// turn is the cursor to read on from: the lowest, where the least can come from, since that lowers the bound of the source
// at once; but after turnPages of it the other one. Of two lists one may hold thousands of equal prices that the other ends
// after a few, and which of them it is can't be known: so neither is read much further than the other.
func (s *source) turn() int {
	lowest := s.lowest()
	if s.since++; s.since > turnPages {
		s.since = 0
		return len(s.cursors) - 1 - lowest
	}
	return lowest
}

// lowest is the cursor whose bound comes last. A timer that no cursor has passed is beyond all of them, so that this is the
// bound of the source.
func (s *source) lowest() int {
	lowest := 0
	for i := range s.cursors {
		if s.cursors[i].rank.Compare(s.cursors[lowest].rank) > 0 {
			lowest = i
		}
	}
	return lowest
}

// follow keeps a source in the merge, unless all that it still holds is priced out.
func (m *Merge) follow(s *source) {
	if rank := s.cursors[s.lowest()].rank; !rank.Negative() {
		m.sources.push(rank, s)
	}
}

func (m *Merge) takeFrom(s *source, entry Entry) {
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

// take ranks an entry that was read; one that is priced out is forgotten.
func (m *Merge) take(entry Entry) {
	if rank, ok := m.policy.Rank(m.prices, entry.candidate()); ok {
		m.found.push(rank, entry)
	}
}

// cursorAt bounds what comes after an entry in its list: no more of the price that orders the list, and at an equal price no
// earlier place.
func (m *Merge) cursorAt(entry Entry) cursor {
	var priority math.LegacyDec
	switch {
	case !entry.List.stated():
		var ok bool
		if priority, ok = m.policy.Priority(m.prices, entry.Ask()); !ok {
			priority = math.LegacyOneDec().Neg()
		}
	case entry.List.order() == byFee:
		priority = entry.MaxFee.Sub(m.policy.Fee(m.prices))
	default:
		priority = entry.MaxPriority
	}
	return cursor{entry, policy.NewRank(priority, entry.List.Weight(), entry.Due, entry.Seq)}
}

// ranked is a binary heap by rank, the best first.
type ranked[T any] []rankedItem[T]

type rankedItem[T any] struct {
	rank policy.Rank
	item T
}

func (r ranked[T]) before(i, j int) bool { return r[i].rank.Compare(r[j].rank) < 0 }

func (r *ranked[T]) push(rank policy.Rank, item T) {
	*r = append(*r, rankedItem[T]{rank, item})
	h := *r
	for i := len(h) - 1; i > 0; {
		above := (i - 1) / 2
		if !h.before(i, above) {
			return
		}
		h[i], h[above] = h[above], h[i]
		i = above
	}
}

// pop takes out the best of a heap that is not empty.
func (r *ranked[T]) pop() T {
	h := *r
	first, last := h[0].item, len(h)-1
	h[0] = h[last]
	h[last] = rankedItem[T]{}
	h = h[:last]
	*r = h
	for i := 0; ; {
		best := i
		for below := 2*i + 1; below <= 2*i+2 && below < last; below++ {
			if h.before(below, best) {
				best = below
			}
		}
		if best == i {
			return first
		}
		h[i], h[best] = h[best], h[i]
		i = best
	}
}
