package queue

import (
	"context"
	"slices"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/calendar"
	"github.com/cosmos-timers/timers/x/timers/sandbox"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// Writes note which records were written or removed since a block began to read them, so that a record that nobody has
// touched need not be read again. They live as long as the block. A write that was undone stays noted: then a record is
// read once more than it need be. What is written must not depend on such notes.
type Writes struct {
	// places are looked up, never ranged over.
	places map[calendar.Key]struct{}
	// queued are those of the queue. due: the block's own steps have touched a place there that is due. A handler can't be the
	// first, since its own timer is one.
	queued []calendar.Key
	due    bool
	// Count of the writes and removals.
	Count uint64
	// backlog as the block found it; nil until it has opened it.
	backlog *opened
	// placed is what the block knows of the placements, and has made of them.
	placed placed
}

type writesKey struct{}

// WithWrites marks a context, and those that stem from it, as ones whose writes of records are noted.
func WithWrites(ctx sdk.Context) (sdk.Context, *Writes) {
	w := &Writes{places: map[calendar.Key]struct{}{}}
	return ctx.WithValue(writesKey{}, w), w
}

// WritesOf are those that a context notes; nil outside of a block's end.
func WritesOf(ctx context.Context) *Writes {
	w, _ := ctx.Value(writesKey{}).(*Writes)
	return w
}

// ownWrites are those of the block whose own steps run under the context; nil for transactions, handlers and queries.
func ownWrites(ctx context.Context) *Writes {
	if sandbox.IsWithinFire(ctx) {
		return nil
	}
	return WritesOf(ctx)
}

// Mark is what steps had noted of placements at some time.
type Mark []ownPlacement

// Mark returns where Undo returns to, when what was done since is undone.
func (w *Writes) Mark() Mark {
	if w == nil {
		return nil
	}
	return w.placed.own
}

// Undo forgets what was noted of placements since a mark, and what was read of the branch that is dropped.
func (w *Writes) Undo(m Mark) {
	if w != nil {
		w.placed.own, w.placed.last = m, nil
		w.readAgain()
	}
}

// readAgain forgets what was read of the placements.
func (w *Writes) readAgain() {
	if w != nil {
		w.placed.known, w.placed.reader = false, nil
	}
}

// Touched reports whether the record at the timer's place was written or removed.
func (w *Writes) Touched(t *types.Timer) bool {
	_, touched := w.places[placeOf(t)]
	return touched
}

// NoteWrite notes a write or a removal of the timer's record.
func NoteWrite(ctx context.Context, t *types.Timer) {
	w := WritesOf(ctx)
	if w == nil {
		return
	}
	w.Count++
	w.places[placeOf(t)] = struct{}{}
	if t.SetAside == types.NotSetAside {
		w.queued = append(w.queued, placeOf(t))
		w.due = w.due || t.Due <= types.HeightOf(ctx) && !sandbox.IsWithinFire(ctx)
	}
}

// within are the places of the queue in a span that were touched, each once and in order: when they were first touched may have
// been undone.
func (w *Writes) within(span calendar.Span) (places []calendar.Key) {
	for _, place := range w.queued {
		if span.Contains(place) {
			places = append(places, place)
		}
	}
	slices.SortFunc(places, calendar.Key.Compare)
	return slices.Compact(places)
}

// MayBeTouched reports whether the record at the timer's place may not be what the block has read. Handlers, which look
// timers up themselves and pay for it, are not told.
func MayBeTouched(ctx context.Context, t *types.Timer) bool {
	w := WritesOf(ctx)
	return w == nil || sandbox.IsWithinFire(ctx) || w.Touched(t)
}

// placeOf is the timer's place in the queue.
func placeOf(t *types.Timer) calendar.Key { return calendar.Key{Due: t.Due, Seq: t.Seq} }
