// Package calendar keeps entries by the height at which they become due (x/timers/README.md, "5.4 Candidates"). Flat is
// the calendar: an algorithm over a small ordered store, which is a collection in package state and a slice in tests.
// Entries are read in pages, so that no reader holds an iterator open while state changes.
//
// A Key is (due, seq). Seq is the order of insertion, so that of two entries due at one height the earlier one comes
// first. An entry that is due and not taken stays where it is: deferral writes nothing.
//
// TierOf says how far away an entry is. Nothing is stored by tier.
package calendar

import (
	"cmp"
	"context"
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

// Entry is one entry at its place.
type Entry[V any] struct {
	Key   Key
	Value V
}

// Store is the ordered store beneath a calendar.
type Store[V any] interface {
	Set(ctx context.Context, key Key, value V) error
	// Get returns found = false, and no error, when there is nothing at the key.
	Get(ctx context.Context, key Key) (value V, found bool, err error)
	Remove(ctx context.Context, key Key) error
	// Scan calls fn for entries from the key on, in order, until fn returns false. fn must not use the store.
	Scan(ctx context.Context, from Key, fn func(Entry[V]) (more bool)) error
}

// Flat is the calendar as one ordered index. On a Merkleized ordered store it costs no more than tiers do: the near
// future lies together because the key begins with the height.
type Flat[V any] struct{ store Store[V] }

// NewFlat returns a flat calendar over the store.
func NewFlat[V any](store Store[V]) Flat[V] { return Flat[V]{store} }

// Insert puts an entry in its place; what was there is replaced.
func (f Flat[V]) Insert(ctx context.Context, key Key, value V) error {
	return f.store.Set(ctx, key, value)
}

// Get returns the entry at the key.
func (f Flat[V]) Get(ctx context.Context, key Key) (V, bool, error) { return f.store.Get(ctx, key) }

// Remove takes an entry out; it is no error if there is none.
func (f Flat[V]) Remove(ctx context.Context, key Key) error { return f.store.Remove(ctx, key) }

// Page returns, in order, entries from the key on that are due at the height or before. keep decides what to take and
// when to stop, so that the caller's bounds are the loop's; complete is true if nothing due is left behind the page.
func (f Flat[V]) Page(
	ctx context.Context, from Key, height uint64, keep func(Entry[V]) Verdict,
) (entries []Entry[V], next Key, complete bool, err error) {
	next, complete = Key{Due: height + 1}, true
	err = f.store.Scan(ctx, from, func(e Entry[V]) bool {
		if e.Key.Due > height {
			return false
		}
		switch keep(e) {
		case Take:
			entries = append(entries, e)
		case Pass:
		case Stop:
			next, complete = e.Key, false
			return false
		}
		return true
	})
	return entries, next, complete, err
}

// Maintain moves entries between tiers. A flat calendar has none.
func (Flat[V]) Maintain(context.Context, uint64) error { return nil }

// Verdict is what a reader says of an entry.
type Verdict int

const (
	// Take the entry into the page and go on.
	Take Verdict = iota
	// Pass the entry over and go on.
	Pass
	// Stop before the entry.
	Stop
)
