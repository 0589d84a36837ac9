// Package tiered is the calendar of two tiers (x/timers/README.md, "2.4 Calendar"). It behaves as calendar.Flat does, and
// writes fewer and larger values to the store: on a Merkleized store a write at a place of its own costs as many nodes as
// the tree is deep there, a write next to another hardly any.
//
// The near tier holds entries singly, at (due, seq), in the store of a flat calendar. The far tier holds them in runs:
// lists in order of their keys, in chunks of up to 64 entries. What a block inserts is written as one run at its end.
// When there are sixteen runs of about one size they are merged into one, a part in each block. When entries become due
// they move to the near tier. What is fired in the same block is never written there.
//
// The frontier is a key before which all entries are in the near tier. It only moves forward. Entries at or after it
// that are changed move to the near tier too, and what is removed is noted as dead, so that runs are never rewritten.
//
// # Cost
//
// Insert is one operation of the store. An entry is written once when its block ends, and once for each merge: about
// log16(n ÷ 512) times, 64 entries to a value. Get reads one chunk for an entry that was inserted once. One that was
// inserted again with the same seq may be in any run of such entries, of which there are at most about 32 for each
// level. Maintain and Close do bounded work; see there.
package tiered

import (
	"context"

	"github.com/cosmos-timers/timers/x/timers/calendar"
)

// Codec turns values into bytes and back. The bytes need not say what the key says, beside which they are stored.
type Codec[V any] interface {
	// Encode returns at least one byte.
	Encode(calendar.Key, V) ([]byte, error)
	Decode(calendar.Key, []byte) (V, error)
}

// Tiered is the calendar of two tiers.
type Tiered[V any] struct {
	near  calendar.Store[V]
	far   far
	codec Codec[V]
}

// New returns a calendar over the stores of its tiers. Begin must be called once before it is used.
func New[V any](near calendar.Store[V], store Store, codec Codec[V]) *Tiered[V] {
	return &Tiered[V]{near, far{store, &defaultShape}, codec}
}

// Begun reports whether Begin was called.
func (t *Tiered[V]) Begun(ctx context.Context) (bool, error) {
	_, found, err := t.far.frontier(ctx)
	return found, err
}

// Begin sets up the far tier. Entries that the near tier holds already stay there: so a flat calendar becomes a tiered
// one at once, and its entries leave as they become due.
func (t *Tiered[V]) Begin(ctx context.Context) error { return t.far.setFrontier(ctx, calendar.Key{}) }

// isNear reports whether the key is before the frontier, so that only the near tier can hold it.
func (t *Tiered[V]) isNear(ctx context.Context, key calendar.Key) (bool, error) {
	frontier, _, err := t.far.frontier(ctx)
	return key.Compare(frontier) < 0, err
}

// Insert adds an entry. The caller makes sure that there is none at the key.
func (t *Tiered[V]) Insert(ctx context.Context, key calendar.Key, value V) error {
	near, err := t.isNear(ctx, key)
	if err == nil && !near {
		// A run still holds an entry of this key that was removed.
		near, err = t.far.isDead(ctx, key)
	}
	if err != nil {
		return err
	}
	if near {
		return t.near.Set(ctx, key, value)
	}
	return t.setInbox(ctx, key, value)
}

func (t *Tiered[V]) setInbox(ctx context.Context, key calendar.Key, value V) error {
	bz, err := t.codec.Encode(key, value)
	if err != nil {
		return err
	}
	return t.far.store.Set(ctx, regionKey(inboxRegion, key), bz)
}

// place is where the entry of a key is.
type place int

const (
	inNear place = iota
	inInbox
	// inRuns or nowhere.
	inRuns
)

func (t *Tiered[V]) placeOf(ctx context.Context, key calendar.Key) (place, error) {
	near, err := t.isNear(ctx, key)
	if err == nil && !near {
		_, near, err = t.near.Get(ctx, key)
	}
	if near || err != nil {
		return inNear, err
	}
	bz, err := t.far.store.Get(ctx, regionKey(inboxRegion, key))
	if bz != nil || err != nil {
		return inInbox, err
	}
	return inRuns, nil
}

// Replace changes the entry at the key. The caller makes sure that there is one.
func (t *Tiered[V]) Replace(ctx context.Context, key calendar.Key, value V) error {
	at, err := t.placeOf(ctx, key)
	switch {
	case err != nil:
		return err
	case at == inInbox:
		return t.setInbox(ctx, key, value)
	case at == inRuns:
		if err := t.far.bury(ctx, key); err != nil {
			return err
		}
	}
	return t.near.Set(ctx, key, value)
}

// Remove removes the entry at the key. It is no error if there is none.
func (t *Tiered[V]) Remove(ctx context.Context, key calendar.Key) error {
	at, err := t.placeOf(ctx, key)
	switch {
	case err != nil:
		return err
	case at == inInbox:
		return t.far.store.Delete(ctx, regionKey(inboxRegion, key))
	case at == inRuns:
		return t.far.bury(ctx, key)
	}
	return t.near.Remove(ctx, key)
}

// Get returns the entry at the key.
func (t *Tiered[V]) Get(ctx context.Context, key calendar.Key) (value V, found bool, err error) {
	value, found, err = t.near.Get(ctx, key)
	if found || err != nil {
		return value, found, err
	}
	if near, err := t.isNear(ctx, key); near || err != nil {
		return value, false, err
	}
	bz, err := t.far.get(ctx, key)
	if bz == nil || err != nil {
		return value, false, err
	}
	value, err = t.codec.Decode(key, bz)
	return value, err == nil, err
}

// Work bounds what a block migrates.
type Work struct {
	// Migrations is how many entries a block moves to the near tier.
	Migrations int
	// AheadBlocks is how long before its height the migration of a crowd may begin.
	AheadBlocks uint64
}

// share is the part of a block's migrations that is for crowds of later heights, a quarter. The rest is left to what is due.
func (w Work) share() int { return max(1, w.Migrations/4) }

// Maintain moves what is due at the height to the near tier, at most work.Migrations entries. What exceeds that is found
// where it is.
//
// If more entries are due at one later height than a block moves, it begins ahead of time, with a quarter of the migrations
// of each block: early enough for all of them, but not before AheadBlocks.
//
// It reads and writes the entries that it moves, one chunk more for each run, and forgets as many dead keys at most.
func (t *Tiered[V]) Maintain(ctx context.Context, height uint64, work Work) error {
	d, err := t.far.directory(ctx)
	if err != nil {
		return err
	}
	moved, until, err := t.migrate(ctx, d, height, work.Migrations)
	if err != nil {
		return err
	}
	if ahead := d.crowdAhead(height, work); ahead > height && moved <= work.Migrations-work.share() {
		more, end, err := t.migrate(ctx, d, ahead, work.share())
		if err != nil {
			return err
		}
		moved, until = moved+more, end
	}
	if moved == 0 {
		return nil
	}
	d.settle()
	if err := t.far.setDirectory(ctx, d); err != nil {
		return err
	}
	return t.advance(ctx, until, work.Migrations)
}

func (t *Tiered[V]) migrate(ctx context.Context, d *directory, height uint64, budget int) (int, calendar.Key, error) {
	return t.far.migrate(ctx, d, height, budget, func(e entry) error {
		value, err := t.codec.Decode(e.key, e.value)
		if err != nil {
			return err
		}
		return t.near.Set(ctx, e.key, value)
	})
}

// advance moves the frontier. What this block has inserted before it moves to the near tier; what is dead before it is
// forgotten.
func (t *Tiered[V]) advance(ctx context.Context, until calendar.Key, limit int) error {
	if near, err := t.isNear(ctx, until); near || err != nil {
		return err
	}
	err := t.far.scanInbox(ctx, until, func(e entry) error {
		value, err := t.codec.Decode(e.key, e.value)
		if err != nil {
			return err
		}
		if err := t.near.Set(ctx, e.key, value); err != nil {
			return err
		}
		return t.far.store.Delete(ctx, regionKey(inboxRegion, e.key))
	})
	if err != nil {
		return err
	}
	if err := t.far.forgetDead(ctx, until, limit); err != nil {
		return err
	}
	return t.far.setFrontier(ctx, until)
}

// Close ends a block: what was inserted is written as runs, and merges go on. It reads and writes what was inserted, and
// merges at most 256 entries and five for each inserted, and those of one chunk more.
func (t *Tiered[V]) Close(ctx context.Context) error {
	d, err := t.far.directory(ctx)
	if err != nil {
		return err
	}
	packed, err := t.far.pack(ctx, d)
	if err != nil {
		return err
	}
	if packed == 0 && !d.hasWork() {
		return nil
	}
	if err := t.far.merge(ctx, d, t.far.shape.mergesPerBlock+t.far.shape.mergesPerInsert*packed); err != nil {
		return err
	}
	return t.far.setDirectory(ctx, d)
}
