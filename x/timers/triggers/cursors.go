package triggers

import (
	"context"
	"slices"

	"github.com/cosmos-timers/timers/x/timers/state"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// firstOwner comes before every address.
var firstOwner = []byte{0}

// deriveCursors lets the next block go on with the passes and rounds that a genesis holds, where its cursors name none.
func (w *Watches) deriveCursors(ctx context.Context) error {
	var left types.WatchCursors
	err := w.pending.Walk(ctx, nil, func(at prefixKey, _ types.WatchPending) (bool, error) {
		left.Turn = types.WatchKey{Store: at.K1(), Prefix: slices.Clone(at.K2())}
		return true, nil
	})
	if err != nil {
		return err
	}
	err = w.turns.Walk(ctx, nil, func(turnKey) (bool, error) {
		left.Owner = firstOwner
		return true, nil
	})
	if err != nil {
		return err
	}
	return w.addCursors(ctx, left)
}

// addCursors lets the next block go on with what is left, where the cursors do not say already where it does.
func (w *Watches) addCursors(ctx context.Context, left types.WatchCursors) error {
	if left.Equal(types.WatchCursors{}) {
		return nil
	}
	before, _, err := state.FindItem(ctx, w.cursors)
	if err != nil {
		return err
	}
	after := before
	after.ConditionsLeft = after.ConditionsLeft || left.ConditionsLeft
	after.TombstonesLeft = after.TombstonesLeft || left.TombstonesLeft
	if after.Turn.Store == "" {
		after.Turn = left.Turn
	}
	if len(after.Owner) == 0 {
		after.Owner = left.Owner
	}
	return w.setCursors(ctx, before, after)
}

// setCursors writes the cursors if they have changed. Cursors at the start have no entry.
func (w *Watches) setCursors(ctx context.Context, before, after types.WatchCursors) error {
	switch {
	case after.Equal(before):
		return nil
	case after.Equal(types.WatchCursors{}):
		return w.cursors.Remove(ctx)
	default:
		return w.cursors.Set(ctx, after)
	}
}
