package state

import (
	"context"

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
	if w, _ := ctx.Value(writesKey{}).(*Writes); w != nil {
		w.places[KeyOf(t.Due, t.Seq)] = struct{}{}
		w.Count++
	}
}

// MayBeTouched reports whether the record at the timer's place may not be what the block has read. Handlers, which look
// timers up themselves and pay for it, are not told.
func MayBeTouched(ctx context.Context, t *types.Timer) bool {
	w, _ := ctx.Value(writesKey{}).(*Writes)
	return w == nil || sandbox.IsWithinFire(ctx) || w.Touched(t)
}
