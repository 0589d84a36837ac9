package schedule

import (
	"cmp"
	"slices"
)

// Key is a place in the queue.
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

// ReadDue returns entries that are due at or before the height, of those that scan passes on in order. keep decides which entries
// to take and when to stop, so that the caller's budget bounds the loop.
//
// complete is true if no due entry comes after the page. next is the key from which the next page starts: the entry at
// which keep stopped, or, if the page is complete, the first key of the height after this one. The entries are a copy:
// the caller may change the store while it works through them.
func ReadDue[V any](height uint64, keep func(Entry[V]) Decision, scan func(func(Entry[V]) (more bool)) error) (
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

// Decision is the decision of a reader about an entry.
type Decision int

const (
	// Take the entry into the page and continue.
	Take Decision = iota
	// Pass the entry over and continue.
	Pass
	// Stop before the entry.
	Stop
)

// TierSizes are those of the tiers in which queries and events report the distance of a timer. The product of the two sizes
// of epochs must not overflow.
type TierSizes struct {
	// RingSize is the number of blocks of the near tier.
	RingSize uint64
	// EpochBlocks is the number of blocks of an epoch, and EpochHorizon the number of epochs of the middle tier.
	EpochBlocks, EpochHorizon uint64
}

// Tier is the distance of an entry's due height, in three steps. It is a function of (due, now) and the sizes alone. It is not
// stored, so that the passing of time changes no state.
type Tier int

const (
	// Near: within RingSize blocks, or due already.
	Near Tier = iota
	// Epoch: within EpochHorizon epochs of EpochBlocks each.
	Epoch
	// Far: beyond.
	Far
)

// TierOf returns the tier of an entry that is due at one height, seen from the height now. An overdue entry is near.
func (s TierSizes) TierOf(due, now uint64) Tier {
	switch {
	case due <= now || due-now <= s.RingSize:
		return Near
	case due-now <= s.EpochBlocks*s.EpochHorizon:
		return Epoch
	default:
		return Far
	}
}
