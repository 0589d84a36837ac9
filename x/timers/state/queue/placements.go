package queue

import (
	"bytes"
	"context"

	"cosmossdk.io/collections"
	collcodec "cosmossdk.io/collections/codec"
	"cosmossdk.io/core/store"

	"github.com/cosmos-timers/timers/x/timers/calendar"
	"github.com/cosmos-timers/timers/x/timers/logmap"
	"github.com/cosmos-timers/timers/x/timers/state/logstore"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// placements hold what the records of admitted timers say of the ready index: the fields of types.Timer that begin with
// admitted_, and quote. Overload admits timers by thousands in a block, and so that writes none of their records. Who reads
// a record gets it whole.
//
// Invariant: between blocks, each placement is that of a record that is there, and no record that is due has one of its own.
type placements struct {
	// places: (due, seq) → placement, as a timer that has nothing else.
	places *logstore.Map
	codec  collcodec.ValueCodec[types.Timer]
}

// placementOptions shape the map: a block reads nearly all of it, a message two entries, and passes over half a chunk for each.
var placementOptions = logmap.Options{LogBytes: 4_096, ChunkBytes: 8_192, Runs: 2, Split: 8, Ratio: 8}

func newPlacements(sb *collections.SchemaBuilder, service store.KVStoreService, timer collcodec.ValueCodec[types.Timer]) *placements {
	return &placements{logstore.NewMap(sb, service, collections.NewPrefix(types.PrefixPlacements), "placements", placementOptions), timer}
}

// placementOf is a timer that has the placement of another, and nothing else.
func placementOf(t *types.Timer) types.Timer {
	return types.Timer{AdmittedWeight: t.AdmittedWeight, AdmittedScore: t.AdmittedScore, Quote: t.Quote, AdmittedCeiling: t.AdmittedCeiling}
}

// isPlaced reports whether a timer has a placement.
func isPlaced(t *types.Timer) bool {
	return t.AdmittedWeight > 0 || len(t.AdmittedScore) > 0 || t.Quote != nil || t.AdmittedCeiling != nil
}

// put gives a timer a placement.
func put(placement, t *types.Timer) {
	t.AdmittedWeight, t.AdmittedScore, t.Quote, t.AdmittedCeiling = placement.AdmittedWeight, placement.AdmittedScore, placement.Quote, placement.AdmittedCeiling
}

// any reports whether there may be any.
func (p *placements) any(ctx context.Context) (bool, error) {
	none, err := p.places.IsNew(ctx)
	return !none, err
}

// get returns the placement at a place; false if there is none. What is not due has none.
func (p *placements) get(ctx context.Context, key calendar.Key) (bz []byte, found bool, err error) {
	if key.Due > types.HeightOf(ctx) {
		return nil, false, nil
	}
	return p.places.Get(ctx, placeKey(key))
}

// join gives a record that was read its placement, and charges for it as a part of the record.
func (p *placements) join(ctx context.Context, t *types.Timer) error {
	bz, found, err := p.get(ctx, placeOf(t))
	if !found || err != nil {
		return err
	}
	placement, err := p.codec.Decode(bz)
	if err != nil {
		return err
	}
	alone := t.Size()
	put(&placement, t)
	// What the record has of its own was charged for.
	logstore.ChargeReadBytes(ctx, max(0, t.Size()-alone))
	return nil
}

// split takes the placement out of a record that is to be written, and writes it if it is not what is there. It charges for it
// as a part of the record.
func (p *placements) split(ctx context.Context, t types.Timer) (types.Timer, error) {
	if t.Due > types.HeightOf(ctx) {
		return t, nil
	}
	placement := placementOf(&t)
	if isPlaced(&t) {
		whole := t.Size()
		put(&types.Timer{}, &t)
		logstore.ChargeWriteBytes(ctx, whole-t.Size())
	}
	_, err := p.write(ctx, placeOf(&t), &placement)
	return t, err
}

// write writes a placement, and reports whether it was another one before.
func (p *placements) write(ctx context.Context, key calendar.Key, placement *types.Timer) (changed bool, err error) {
	var after []byte
	if isPlaced(placement) {
		if after, err = p.codec.Encode(*placement); err != nil {
			return false, err
		}
	}
	before, found, err := p.get(ctx, key)
	if err != nil || found && bytes.Equal(before, after) || !found && len(after) == 0 {
		return false, err
	}
	change := logmap.Inserted
	switch {
	case len(after) == 0:
		return true, p.places.Apply(ctx, logmap.Deleted(placeKey(key)))
	case found:
		change = logmap.Replaced
	}
	return true, p.places.Apply(ctx, change(placeKey(key), after))
}

// remove removes the placement of a record that was removed.
func (p *placements) remove(ctx context.Context, key calendar.Key) error {
	_, err := p.write(ctx, key, &types.Timer{})
	return err
}

// Place writes the placements of records that are in the queue, and no record.
func (q *Queue) Place(ctx context.Context, timers []types.Timer) error {
	for i := range timers {
		placement := placementOf(&timers[i])
		if _, err := q.placements.write(ctx, placeOf(&timers[i]), &placement); err != nil {
			return err
		}
	}
	return nil
}

// checkPlacements returns what is wrong with the placements: each is that of a record that is due.
func (q *Queue) checkPlacements(ctx context.Context) error {
	if err := q.placements.places.Stored().Check(ctx); err != nil {
		return err
	}
	all, err := q.placements.places.Page(ctx, nil, nil, 1<<30)
	if err != nil {
		return err
	}
	for _, entry := range all {
		key := parsePlace(entry.Key)
		found, err := q.Has(ctx, key)
		switch {
		case err != nil:
			return err
		case !found || key.Due > types.HeightOf(ctx):
			return types.ErrInternal.Wrapf("the placement at (%d, %d) is that of no timer that is due", key.Due, key.Seq)
		}
	}
	return nil
}
