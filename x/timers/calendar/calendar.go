// Package calendar keeps entries by the height at which they become due (x/timers/README.md, "5.4 Candidates"). Flat is
// one ordered index over a small store, which is a collection in package queue and a slice in tests. Package tiered has
// a calendar that behaves the same and writes less. Entries are read in pages, so that no reader holds an iterator open
// while state changes.
//
// A Key is (due, seq). Seq is the order of insertion, so that of two entries due at one height the earlier one is
// first. The order is total and does not depend on the current height. So an entry that is due and not taken keeps its
// place: deferring it to the next block writes nothing.
//
// TierOf computes the distance of an entry in three steps. It is not stored.
//
// # Cost
//
// With n entries, Insert, Get and Remove are one operation of the store each. Page reads the entries that it takes or
// passes over, and at most one more. No operation depends on how far in the future an entry is due.
package calendar

import (
	"cmp"
	"context"
	"slices"
)

// Key is a place in the calendar.
type Key struct {
	// Due is the height from which the entry is due.
	Due uint64
	// Seq is unique: the order of insertion.
	Seq uint64
}

// Compare orders keys by due height, then by insertion.
func (k Key) Compare(other Key) int {
	return cmp.Or(cmp.Compare(k.Due, other.Due), cmp.Compare(k.Seq, other.Seq))
}

// Span is the places from one to before another one.
type Span struct{ From, To Key }

// IsEmpty reports whether no place is within.
func (s Span) IsEmpty() bool { return s.From.Compare(s.To) >= 0 }

// Contains reports whether a place is within.
func (s Span) Contains(k Key) bool { return s.From.Compare(k) <= 0 && k.Compare(s.To) < 0 }

// Entry is one entry at its place.
type Entry[V any] struct {
	Key   Key
	Value V
}

// Store is the ordered store beneath a calendar.
type Store[V any] interface {
	Set(ctx context.Context, key Key, value V) error
	// Get returns found = false, and no error, if there is no entry at the key.
	Get(ctx context.Context, key Key) (value V, found bool, err error)
	Remove(ctx context.Context, key Key) error
	// Scan calls fn for entries from the key on, in order, until fn returns false. fn must not use the store, because
	// an iterator over it is open meanwhile.
	Scan(ctx context.Context, from Key, fn func(Entry[V]) (more bool)) error
}

// Flat is the calendar as one ordered index.
type Flat[V any] struct{ store Store[V] }

// NewFlat returns a flat calendar over the store.
func NewFlat[V any](store Store[V]) Flat[V] { return Flat[V]{store} }

// Insert stores an entry at its key. It replaces an entry with the same key; the caller keeps keys unique.
func (f Flat[V]) Insert(ctx context.Context, key Key, value V) error {
	return f.store.Set(ctx, key, value)
}

// Replace changes the entry at the key. The caller makes sure that there is one.
func (f Flat[V]) Replace(ctx context.Context, key Key, value V) error {
	return f.store.Set(ctx, key, value)
}

// Get returns the entry at the key.
func (f Flat[V]) Get(ctx context.Context, key Key) (V, bool, error) { return f.store.Get(ctx, key) }

// Remove removes the entry at the key. It is no error if there is none.
func (f Flat[V]) Remove(ctx context.Context, key Key) error { return f.store.Remove(ctx, key) }

// Page returns, in order, entries from the key on that are due at or before the height. keep decides which entries to
// take and when to stop, so that the caller's budget bounds the loop.
//
// complete is true if no due entry comes after the page. next is the key from which the next page starts: the entry at
// which keep stopped, or, if the page is complete, the first key of the height after this one. The entries are a copy:
// the caller may change the store while it works through them.
func (f Flat[V]) Page(
	ctx context.Context, from Key, height uint64, keep func(Entry[V]) Verdict,
) (entries []Entry[V], next Key, complete bool, err error) {
	return Read(height, keep, func(fn func(Entry[V]) bool) error { return f.store.Scan(ctx, from, fn) })
}

// Read makes a page, as Flat.Page returns it, of the entries that scan passes on in order.
func Read[V any](height uint64, keep func(Entry[V]) Verdict, scan func(func(Entry[V]) (more bool)) error) (
	entries []Entry[V], next Key, complete bool, err error,
) {
	next, complete = Key{Due: height + 1}, true
	err = scan(func(e Entry[V]) bool {
		// Heights come first in the key, so that no later entry is due either.
		if e.Key.Due > height {
			return false
		}
		switch keep(e) {
		case Take:
			entries = appendDoubling(entries, e)
		case Pass:
		case Stop:
			next, complete = e.Key, false
			return false
		}
		return true
	})
	return entries, next, complete, err
}

// appendDoubling doubles the room of a full slice. A page may be of thousands of large entries, which append by itself would
// copy four times on the way.
func appendDoubling[E any](entries []E, e E) []E {
	if len(entries) == cap(entries) {
		entries = slices.Grow(entries, max(8, len(entries)))
	}
	return append(entries, e)
}

// Verdict is the decision of a reader about an entry.
type Verdict int

const (
	// Take the entry into the page and go on.
	Take Verdict = iota
	// Pass the entry over and go on.
	Pass
	// Stop before the entry.
	Stop
)
