package state

import (
	"bytes"
	"context"
	"slices"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/calendar"
	"github.com/cosmos-timers/timers/x/timers/sandbox"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// Writes note which records were written or removed since a block began to read them, so that a record that nobody has
// touched need not be read again. They live as long as the block. A write that was undone stays noted: then a record is
// read once more than it need be.
type Writes struct {
	// places are looked up, never ranged over.
	places map[calendar.Key]struct{}
	// Count of the writes and removals.
	Count uint64
	// removed are the keys of entries of the owner index that steps have removed and not yet written.
	removed [][]byte
}

// Mark is what was not yet written at some time.
type Mark struct{ removed [][]byte }

// Mark returns where Undo returns to, when what was done since is undone.
func (w *Writes) Mark() Mark {
	if w == nil {
		return Mark{}
	}
	return Mark{w.removed}
}

// Undo forgets the removals since a mark. What was written in between must be undone too.
func (w *Writes) Undo(m Mark) {
	if w != nil {
		w.removed = m.removed
	}
}

// isRemoved reports whether an entry is one that was removed, and is still in the store.
func (w *Writes) isRemoved(key []byte) bool {
	return w != nil && slices.ContainsFunc(w.removed, func(k []byte) bool { return bytes.Equal(k, key) })
}

// removedOf counts the entries below a prefix that were removed, and are still in the store.
func (w *Writes) removedOf(prefix []byte) (n uint64) {
	if w == nil {
		return 0
	}
	for _, key := range w.removed {
		if bytes.HasPrefix(key, prefix) {
			n++
		}
	}
	return n
}

// writesOf are the notes of the block in which the context runs; nil outside of its end.
func writesOf(ctx context.Context) *Writes {
	w, _ := ctx.Value(writesKey{}).(*Writes)
	return w
}

type writesKey struct{}

// WithWrites marks a context, and those that stem from it, as ones whose writes of records are noted.
func WithWrites(ctx sdk.Context) (sdk.Context, *Writes) {
	w := &Writes{places: map[calendar.Key]struct{}{}}
	return ctx.WithValue(writesKey{}, w), w
}

// Touched reports whether the record at the timer's place was written or removed.
func (w *Writes) Touched(t *types.Timer) bool {
	_, touched := w.places[KeyOf(t.Due, t.Seq)]
	return touched
}

// noteWrite notes a write or a removal of the timer's record.
func noteWrite(ctx context.Context, t *types.Timer) {
	if w := writesOf(ctx); w != nil {
		w.places[KeyOf(t.Due, t.Seq)] = struct{}{}
		w.Count++
	}
}

// mayBeTouched reports whether the record at the timer's place may not be what the block has read. Handlers, which look
// timers up themselves and pay for it, are not told.
func mayBeTouched(ctx context.Context, t *types.Timer) bool {
	w := writesOf(ctx)
	return w == nil || sandbox.IsWithinFire(ctx) || w.Touched(t)
}
