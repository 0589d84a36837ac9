// Package mergetest is an ordered index in memory, for tests of what reads one.
package mergetest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/tidwall/btree"

	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/market"
)

// ErrBroken is the error of a call that the test makes fail.
var ErrBroken = errors.New("the store is broken")

// beyondAll is a price above every other.
var beyondAll = math.LegacyMustNewDecFromStr("1000000000000000000000000000000000000000000000000")

// Store is an index in a B-tree. It counts what it hands out.
type Store struct {
	tree *btree.BTreeG[market.ListEntry]
	// bounds of the summarized lists; Summarized says which these are.
	bounds map[market.List]math.LegacyDec
	// Firsts and Reads count the entries that First and After handed out, Calls the calls of either.
	Firsts, Reads, Calls int
	// Fail is how many calls are left until one fails, and that one alone; negative means that none does. An error that is
	// lost is thus not hidden by the next.
	Fail int
	// Summarized says which lists have a bound; nil for all.
	Summarized func(market.List) bool
	// Lowered and Dropped count the bounds that were corrected.
	Lowered, Dropped int
}

var _ market.ListSummary = (*Store)(nil)

// New is a store of some entries.
func New(entries ...market.ListEntry) *Store {
	s := &Store{Fail: -1, bounds: map[market.List]math.LegacyDec{}, tree: btree.NewBTreeGOptions(func(a, b market.ListEntry) bool {
		return cmp.Or(
			cmp.Compare(a.List, b.List), b.Price.BigIntMut().Cmp(a.Price.BigIntMut()),
			cmp.Compare(a.Due, b.Due), cmp.Compare(a.Seq, b.Seq),
		) < 0
	}, btree.Options{NoLocks: true})}
	s.Add(entries...)
	return s
}

// Add adds entries.
func (s *Store) Add(entries ...market.ListEntry) {
	for _, entry := range entries {
		s.tree.Set(entry)
		if bound, found := s.bounds[entry.List]; !found || bound.LT(entry.Price) {
			s.bounds[entry.List] = entry.Price
		}
	}
}

// Remove removes entries; those that it does not hold are ignored. The bounds of their lists stay.
func (s *Store) Remove(entries ...market.ListEntry) {
	for _, entry := range entries {
		s.tree.Delete(entry)
	}
}

// Len is how many entries it holds.
func (s *Store) Len() int { return s.tree.Len() }

func (s *Store) call() error {
	s.Calls++
	failed := s.Fail == 0
	s.Fail = max(s.Fail-1, -1)
	if failed {
		return ErrBroken
	}
	return nil
}

// First implements market.ListStore: if the list is empty, it returns the head of the next one that is not.
func (s *Store) First(_ context.Context, from market.List) (head market.ListEntry, found bool, err error) {
	s.tree.Ascend(market.ListEntry{List: from, Price: beyondAll}, func(entry market.ListEntry) bool {
		head, found = entry, true
		s.Firsts++
		return false
	})
	return head, found, s.call()
}

// After implements market.ListStore. To ask for less than one entry is an error.
func (s *Store) After(_ context.Context, entry market.ListEntry, n int) (page []market.ListEntry, err error) {
	if n < 1 {
		return nil, errors.New("fewer than one entry requested")
	}
	s.tree.Ascend(entry, func(next market.ListEntry) bool {
		if next.List == entry.List && next.Seq == entry.Seq {
			return true
		}
		if next.List != entry.List || len(page) >= n {
			return false
		}
		page = append(page, next)
		return true
	})
	s.Reads += len(page)
	return page, s.call()
}

// Bounds implements market.ListSummary.
func (s *Store) Bounds(_ context.Context, fn func(market.List, math.LegacyDec)) error {
	for _, list := range slices.Sorted(maps.Keys(s.bounds)) {
		if s.Summarized == nil || s.Summarized(list) {
			fn(list, s.bounds[list])
		}
	}
	return s.call()
}

// Lower implements market.ListSummary. A bound that does not hold, or that is not lower, is an error.
func (s *Store) Lower(_ context.Context, list market.List, price math.LegacyDec) error {
	before, found := s.bounds[list]
	above := 0
	s.tree.Ascend(market.ListEntry{List: list, Price: beyondAll}, func(entry market.ListEntry) bool {
		if entry.List == list && entry.Price.GT(price) {
			above++
		}
		return false
	})
	if !found || !price.LT(before) || above > 0 {
		return fmt.Errorf("list %d: bound %s lowered to %s", list, before, price)
	}
	s.bounds[list] = price
	s.Lowered++
	return s.call()
}

// Drop implements market.ListSummary. To drop a list that is not empty is an error.
func (s *Store) Drop(_ context.Context, list market.List) error {
	empty := true
	s.tree.Ascend(market.ListEntry{List: list, Price: beyondAll}, func(entry market.ListEntry) bool {
		empty = entry.List != list
		return false
	})
	if !empty {
		return fmt.Errorf("list %d is dropped and not empty", list)
	}
	delete(s.bounds, list)
	s.Dropped++
	return s.call()
}
