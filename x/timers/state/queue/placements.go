package queue

import (
	"bytes"
	"context"
	"encoding/binary"
	"slices"

	"cosmossdk.io/collections"
	collcodec "cosmossdk.io/collections/codec"
	"cosmossdk.io/core/store"

	"github.com/cosmos-timers/timers/x/timers/calendar"
	"github.com/cosmos-timers/timers/x/timers/logmap"
	"github.com/cosmos-timers/timers/x/timers/state/logstore"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// placements hold what the records of admitted timers say of the ready index: the fields of types.Timer that begin with
// admitted_, and quote. A storm admits timers by thousands in a block, and so that writes none of their records. Who reads
// a record gets it whole.
//
// Invariant: between blocks, each placement is that of a record that is there, and no record that is due has one of its own.
type placements struct {
	// places: (due, seq) → placement, as a timer that has nothing else.
	places *logmap.Map
	codec  collcodec.ValueCodec[types.Timer]
	// partEntries is how many are read at once.
	partEntries int
}

// placementOptions shape the map: a block reads nearly all of it, a message two entries, and passes over half a chunk for each.
var placementOptions = logmap.Options{LogBytes: 4_096, ChunkBytes: 8_192, Runs: 2, Split: 8, Ratio: 8}

func newPlacements(sb *collections.SchemaBuilder, service store.KVStoreService, timer collcodec.ValueCodec[types.Timer]) *placements {
	return &placements{logmap.New(logstore.New(sb, service, collections.NewPrefix(types.PrefixPlacements), "placements"), placementOptions), timer, pageEntries}
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

// placed is what the end of a block knows of the placements.
type placed struct {
	// known: it has looked whether there are any. reader reads them; nil for none.
	known  bool
	reader *logmap.Reader
	// removed are the due places of the queue whose records were removed by the block's own steps, which may be undone.
	removed []calendar.Key
	// own are the placements that the block's own steps have changed, in their order, until they are written. last is where in
	// own the last change of a place is; it is looked up, never ranged over, and nil if it is to be made anew.
	own  []ownPlacement
	last map[calendar.Key]int
}

// ownPlacement is a placement as a block's own step has changed it; nil for none.
type ownPlacement struct {
	key   calendar.Key
	bytes []byte
}

// note notes a change.
func (w *placed) note(key calendar.Key, bz []byte) {
	w.index()
	w.last[key] = len(w.own)
	w.own = append(w.own, ownPlacement{key, bz})
}

func (w *placed) index() {
	if w.last != nil {
		return
	}
	w.last = map[calendar.Key]int{}
	for i, change := range w.own {
		w.last[change.key] = i
	}
}

// noted returns what a block's own step has made of a placement; false if none has changed it.
func (w *placed) noted(key calendar.Key) ([]byte, bool) {
	if len(w.own) == 0 {
		return nil, false
	}
	w.index()
	at, noted := w.last[key]
	if !noted {
		return nil, false
	}
	return w.own[at].bytes, true
}

// reader reads the placements; nil if there are none.
func (p *placements) reader(ctx context.Context) (*logmap.Reader, error) {
	w := ownWrites(ctx)
	if w != nil && w.placed.known {
		return w.placed.reader, nil
	}
	ctx = types.Unmetered(ctx)
	none, err := p.places.IsNew(ctx)
	if err != nil {
		return nil, err
	}
	var reader *logmap.Reader
	if !none {
		reader = p.places.Reader(ctx)
	}
	if w != nil {
		w.placed.known, w.placed.reader = true, reader
	}
	return reader, nil
}

// get returns the placement at a place; false if there is none.
func (p *placements) get(ctx context.Context, key calendar.Key) (bz []byte, found bool, err error) {
	if key.Due > types.HeightOf(ctx) {
		return nil, false, nil
	}
	if w := ownWrites(ctx); w != nil {
		if bz, noted := w.placed.noted(key); noted {
			return bz, bz != nil, nil
		}
		if w.placed.known && w.placed.reader == nil {
			return nil, false, nil
		}
	}
	return p.stored(ctx, key)
}

// stored is get of what is in the store.
func (p *placements) stored(ctx context.Context, key calendar.Key) (bz []byte, found bool, err error) {
	if ownWrites(ctx) == nil {
		// A message looks for one or two: it is not worth a reader.
		return p.places.Get(types.Unmetered(ctx), placeKey(key))
	}
	reader, err := p.reader(ctx)
	if reader == nil || err != nil {
		return nil, false, err
	}
	return reader.Get(placeKey(key))
}

// join gives a record that was read its placement.
func (p *placements) join(ctx context.Context, t *types.Timer) error {
	bz, found, err := p.get(ctx, placeOf(t))
	if !found || err != nil {
		return err
	}
	placement, err := p.codec.Decode(bz)
	if err == nil {
		joinTo(ctx, t, &placement)
	}
	return err
}

// joinTo gives a record its placement, and charges for it as a part of the record.
func joinTo(ctx context.Context, t, placement *types.Timer) {
	alone := t.Size()
	put(placement, t)
	// What the record has of its own was charged for.
	logstore.ChargeReadBytes(ctx, max(0, t.Size()-alone))
}

// split takes the placement out of a record that is to be written, and writes it if it is not what is there, or notes it if a
// block's own step writes the record. It charges for it as a part of the record.
func (p *placements) split(ctx context.Context, t types.Timer) (types.Timer, error) {
	if t.Due > types.HeightOf(ctx) {
		return t, nil
	}
	placement := placementOf(&t)
	var after []byte
	if isPlaced(&t) {
		var err error
		if after, err = p.codec.Encode(placement); err != nil {
			return t, err
		}
		whole := t.Size()
		put(&types.Timer{}, &t)
		logstore.ChargeWriteBytes(ctx, whole-t.Size())
	}
	before, found, err := p.get(ctx, placeOf(&t))
	if err != nil || found && bytes.Equal(before, after) || !found && len(after) == 0 {
		return t, err
	}
	if w := ownWrites(ctx); w != nil {
		w.placed.note(placeOf(&t), after)
		return t, nil
	}
	return t, p.apply(ctx, change(placeOf(&t), found, after))
}

// change is what makes an entry what it should be; nil for none.
func change(key calendar.Key, found bool, after []byte) logmap.Change {
	switch {
	case len(after) == 0:
		return logmap.Deleted(placeKey(key))
	case found:
		return logmap.Replaced(placeKey(key), after)
	default:
		return logmap.Inserted(placeKey(key), after)
	}
}

// apply makes changes. What the block has read is out of date then.
func (p *placements) apply(ctx context.Context, changes ...logmap.Change) error {
	WritesOf(ctx).readAgain()
	return p.places.Apply(types.Unmetered(ctx), changes...)
}

// remove removes the placement of a record that was removed. What the end of a block removes by its own steps it looks for when
// it ends.
func (p *placements) remove(ctx context.Context, key calendar.Key) error {
	if key.Due > types.HeightOf(ctx) {
		return nil
	}
	if w := ownWrites(ctx); w != nil {
		w.placed.removed = append(w.placed.removed, key)
		return nil
	}
	_, found, err := p.get(ctx, key)
	if !found || err != nil {
		return err
	}
	return p.apply(ctx, logmap.Deleted(placeKey(key)))
}

// WritePlacements writes what the steps at the end of a block have noted, before a handler reads it, and before a block ends.
func (c *Calendar) WritePlacements(ctx context.Context) error {
	w := ownWrites(ctx)
	if w == nil || len(w.placed.own) == 0 {
		return nil
	}
	own := w.placed.own
	w.placed.own, w.placed.last = nil, nil
	return c.placements.write(ctx, own)
}

// BranchPlacements writes it to a branch of state that is dropped.
func (c *Calendar) BranchPlacements(ctx context.Context) error {
	if w := WritesOf(ctx); w != nil {
		return c.placements.write(ctx, w.placed.own)
	}
	return nil
}

// write writes changes of which the last one of a place counts.
func (p *placements) write(ctx context.Context, own []ownPlacement) error {
	var changes []logmap.Change
	seen := map[calendar.Key]bool{}
	for _, noted := range slices.Backward(own) {
		if seen[noted.key] {
			continue
		}
		seen[noted.key] = true
		_, found, err := p.stored(ctx, noted.key)
		if err != nil {
			return err
		}
		if found || noted.bytes != nil {
			changes = append(changes, change(noted.key, found, noted.bytes))
		}
	}
	if len(changes) == 0 {
		return nil
	}
	return p.apply(ctx, changes...)
}

// Place writes the placements of records that are in the queue, and no record.
func (c *Calendar) Place(ctx context.Context, timers []types.Timer) error {
	if err := c.WritePlacements(ctx); err != nil {
		return err
	}
	changes := make([]logmap.Change, 0, len(timers))
	for i := range timers {
		t := &timers[i]
		before, found, err := c.placements.get(ctx, placeOf(t))
		if err != nil {
			return err
		}
		after, err := c.placements.codec.Encode(placementOf(t))
		if err != nil {
			return err
		}
		if !found || !bytes.Equal(before, after) {
			changes = append(changes, change(placeOf(t), found, after))
			NoteWrite(ctx, t)
		}
	}
	if len(changes) == 0 {
		return nil
	}
	return c.placements.apply(ctx, changes...)
}

// closePlacements ends a block: it removes the placements of records that the block has removed, and merges. Where none is left,
// nothing is.
func (c *Calendar) closePlacements(ctx context.Context) error {
	ctx = types.Unmetered(ctx)
	w, p := WritesOf(ctx), c.placements
	if err := c.WritePlacements(ctx); err != nil {
		return err
	}
	if w == nil || w.placed.known && w.placed.reader == nil || !w.placed.known && !w.due {
		return nil
	}
	reader, err := p.reader(ctx)
	if reader == nil || err != nil {
		return err
	}
	for _, key := range w.placed.removed {
		_, found, err := p.get(ctx, key)
		if err != nil {
			return err
		}
		if !found {
			continue
		}
		there, err := c.Has(ctx, key)
		if err != nil {
			return err
		}
		if !there {
			w.placed.note(key, nil)
		}
	}
	if err := c.WritePlacements(ctx); err != nil {
		return err
	}
	idle, err := p.places.Maintain(ctx, types.HeightOf(ctx))
	if !idle || err != nil {
		return err
	}
	left, err := p.places.Page(ctx, nil, nil, 1)
	if len(left) > 0 || err != nil {
		return err
	}
	return p.places.Clear(ctx)
}

// part is a part of the placements, in order, that was read at once: a record whose place it covers can be joined while
// the store is scanned.
type part struct {
	entries []logmap.Entry
	// end is the first place that it does not cover; nil if it covers all.
	end   []byte
	codec collcodec.ValueCodec[types.Timer]
	// noted is what the block's own steps have noted; nil for nothing.
	noted *placed
}

// from reads a part of the placements that begins at a place.
func (p *placements) from(ctx context.Context, key calendar.Key, entries int) (*part, error) {
	read := &part{codec: p.codec}
	if w := ownWrites(ctx); w != nil && len(w.placed.own) > 0 {
		read.noted = &w.placed
	}
	reader, err := p.reader(ctx)
	if reader == nil || err != nil {
		return read, err
	}
	if read.entries, err = reader.Page(placeKey(key), nil, entries); err == nil && len(read.entries) == entries {
		read.end = append(bytes.Clone(read.entries[entries-1].Key), 0)
	}
	return read, err
}

// empty: there is no placement at or after the place.
func (p *part) empty() bool { return len(p.entries) == 0 && p.noted == nil }

func (p *part) covers(key calendar.Key) bool {
	return p.end == nil || bytes.Compare(placeKey(key), p.end) < 0
}

// join gives a record its placement. Records come in order.
func (p *part) join(ctx context.Context, t *types.Timer) error {
	if p.empty() {
		return nil
	}
	bz, found := p.at(placeOf(t))
	if !found {
		return nil
	}
	placement, err := p.codec.Decode(bz)
	if err == nil {
		joinTo(ctx, t, &placement)
	}
	return err
}

func (p *part) at(place calendar.Key) ([]byte, bool) {
	if p.noted != nil {
		if bz, noted := p.noted.noted(place); noted {
			return bz, bz != nil
		}
	}
	key := placeKey(place)
	for len(p.entries) > 0 && bytes.Compare(p.entries[0].Key, key) < 0 {
		p.entries = p.entries[1:]
	}
	if len(p.entries) == 0 || !bytes.Equal(p.entries[0].Key, key) {
		return nil, false
	}
	return p.entries[0].Value, true
}

// checkPlacements returns what is wrong with the placements: each is that of a record that is due.
func (c *Calendar) checkPlacements(ctx context.Context) error {
	if err := c.placements.places.Check(ctx); err != nil {
		return err
	}
	all, err := c.placements.places.Page(ctx, nil, nil, 1<<30)
	if err != nil {
		return err
	}
	for _, entry := range all {
		key := calendar.Key{Due: binary.BigEndian.Uint64(entry.Key), Seq: binary.BigEndian.Uint64(entry.Key[8:])}
		found, err := c.Has(ctx, key)
		switch {
		case err != nil:
			return err
		case !found || key.Due > types.HeightOf(ctx):
			return types.ErrInternal.Wrapf("the placement at (%d, %d) is that of no timer that is due", key.Due, key.Seq)
		}
	}
	return nil
}
