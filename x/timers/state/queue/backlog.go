package queue

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"cosmossdk.io/collections"
	collcodec "cosmossdk.io/collections/codec"
	"cosmossdk.io/core/store"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/calendar"
	"github.com/cosmos-timers/timers/x/timers/logmap"
	"github.com/cosmos-timers/timers/x/timers/sandbox"
	"github.com/cosmos-timers/timers/x/timers/state/logstore"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// backlog has copies of the records in a span of the queue, packed some dozens to a value. Under overload each block reads
// the same timers again, and to read them one by one is most of what it does. It is what the queue is: the end of a block
// copies what it has changed there, and whatever changes it between blocks does so at once.
//
// Invariant: between blocks, the backlog holds the records of its span, and nothing else.
type backlog struct {
	// timers: (due, seq) → timer.
	timers *logmap.Map
	// span of the queue: the places at its ends; absent for none.
	span  collections.Item[[]byte]
	codec collcodec.ValueCodec[types.Timer]
	// most bytes that a block copies.
	most int
}

const (
	// packedBytes bounds what a block copies into the backlog.
	packedBytes = 1 << 18
	// pageEntries is how many entries are read of it at once.
	pageEntries = 256
)

// backlogOptions shape the map: its chunks are large, since nearly all of it is read each time.
var backlogOptions = logmap.Options{LogBytes: 4_096, ChunkBytes: 16_384, Runs: 2, Split: 8, Ratio: 8}

func newBacklog(sb *collections.SchemaBuilder, service store.KVStoreService, timer collcodec.ValueCodec[types.Timer]) *backlog {
	region := func(n byte) collections.Prefix { return collections.NewPrefix([]byte{types.PrefixBacklog, n}) }
	return &backlog{
		timers: logmap.New(logstore.New(sb, service, region(1), "backlog"), backlogOptions),
		span:   collections.NewItem(sb, region(2), "backlog_span", collections.BytesValue),
		codec:  timer,
		most:   packedBytes,
	}
}

// opened is the backlog as it is between blocks.
type opened struct {
	span   calendar.Span
	reader *logmap.Reader
}

// of is the backlog as a context finds it. The end of a block opens it when it first reads what is due; until then it is empty.
func (b *backlog) of(ctx context.Context) (*opened, error) {
	switch w := WritesOf(ctx); {
	case w == nil:
		return b.open(ctx)
	case w.backlog == nil:
		return &opened{}, nil
	default:
		return w.backlog, nil
	}
}

// open opens the backlog.
func (b *backlog) open(ctx context.Context) (*opened, error) {
	ctx = types.Unmetered(ctx)
	span, err := b.spanOf(ctx)
	if err != nil {
		return nil, err
	}
	if span.IsEmpty() {
		return &opened{}, nil
	}
	return &opened{span, b.timers.Reader(ctx)}, nil
}

// spanOf reads the span.
func (b *backlog) spanOf(ctx context.Context) (calendar.Span, error) {
	stored, err := b.span.Get(ctx)
	switch {
	case errors.Is(err, collections.ErrNotFound):
		return calendar.Span{}, nil
	case err == nil && len(stored) != 2*placeBytes:
		err = types.ErrInternal.Wrapf("malformed span of the backlog %x", stored)
	}
	if err != nil {
		return calendar.Span{}, err
	}
	return calendar.Span{From: parsePlace(stored[:placeBytes]), To: parsePlace(stored[placeBytes:])}, nil
}

// current is the backlog, if it is what the queue is: the end of a block has not changed anything there yet. Otherwise it is
// empty.
func (b *backlog) current(ctx context.Context) (*opened, error) {
	o, err := b.of(ctx)
	if w := WritesOf(ctx); err == nil && w != nil {
		for _, place := range w.queued {
			if o.span.Contains(place) {
				return &opened{}, nil
			}
		}
	}
	return o, err
}

// opensKey marks the contexts of which the first page opens the backlog.
type opensKey struct{}

// OpensBacklog is the context in which the end of a block reads what is due.
func OpensBacklog(ctx sdk.Context) sdk.Context { return ctx.WithValue(opensKey{}, true) }

// opens opens the backlog, unless nothing from a place on is due: then it has nothing either, and is not looked for. It reports
// whether anything is due.
func (c *Calendar) opens(ctx context.Context, from calendar.Key, height uint64) (isDue bool, err error) {
	w := WritesOf(ctx)
	if w == nil || w.backlog != nil || ctx.Value(opensKey{}) == nil || sandbox.IsWithinFire(ctx) {
		return true, nil
	}
	stop := func(calendar.Entry[types.Timer]) calendar.Verdict { return calendar.Stop }
	_, _, nothing, err := c.records(types.Unmetered(ctx), from, height, stop)
	if err != nil || nothing {
		return false, err
	}
	w.backlog, err = c.backlog.open(ctx)
	return true, err
}

// scan passes the timers from a place in the span on to fn, in order, until fn returns false.
func (b *backlog) scan(o *opened, from calendar.Key, fn func(calendar.Entry[types.Timer]) bool) error {
	for next := placeKey(from); ; {
		page, err := o.reader.Page(next, nil, pageEntries)
		if err != nil {
			return err
		}
		for _, packed := range page {
			timer, err := b.codec.Decode(packed.Value)
			if err != nil {
				return err
			}
			if !fn(calendar.Entry[types.Timer]{Key: placeOf(&timer), Value: timer}) {
				return nil
			}
		}
		if len(page) < pageEntries {
			return nil
		}
		next = append(page[len(page)-1].Key[:placeBytes:placeBytes], 0)
	}
}

// follow copies a change of the queue that was not made by the end of a block: what is at a place now, nil for nothing.
func (c *Calendar) follow(ctx context.Context, place calendar.Key, now *types.Timer) error {
	if WritesOf(ctx) != nil || place.Due > types.HeightOf(ctx) {
		return nil
	}
	ctx = types.Unmetered(ctx)
	span, err := c.backlog.spanOf(ctx)
	if err != nil || !span.Contains(place) {
		return err
	}
	key := placeKey(place)
	before, packed, err := c.backlog.timers.Get(ctx, key)
	if err != nil {
		return err
	}
	changes, err := c.backlog.change(key, before, packed, now)
	if err != nil {
		return err
	}
	return c.backlog.timers.Apply(ctx, changes...)
}

// changes make the backlog what the queue is at places of its span.
func (c *Calendar) changes(ctx context.Context, o *opened, places ...calendar.Key) (changes []logmap.Change, err error) {
	for _, place := range places {
		timer, queued, err := c.Get(types.Unmetered(ctx), place)
		if err != nil {
			return nil, err
		}
		now := &timer
		if !queued {
			now = nil
		}
		key := placeKey(place)
		before, packed, err := o.reader.Get(key)
		if err != nil {
			return nil, err
		}
		made, err := c.backlog.change(key, before, packed, now)
		if err != nil {
			return nil, err
		}
		changes = append(changes, made...)
	}
	return changes, nil
}

// change is what makes the backlog hold a timer under a key, nil for nothing, where it has what it had before.
func (b *backlog) change(key, before []byte, packed bool, now *types.Timer) ([]logmap.Change, error) {
	if now == nil {
		if packed {
			return []logmap.Change{logmap.Deleted(key)}, nil
		}
		return nil, nil
	}
	after, err := b.codec.Encode(*now)
	switch {
	case err != nil:
		return nil, err
	case !packed:
		return []logmap.Change{logmap.Inserted(key, after)}, nil
	case !bytes.Equal(before, after):
		return []logmap.Change{logmap.Replaced(key, after)}, nil
	}
	return nil, nil
}

// closeBacklog ends a block: it copies what the block has changed, packs more of what waits, up to packedBytes, and merges. If
// nothing waits that is worth it, and nothing is left, there is no backlog.
func (c *Calendar) closeBacklog(ctx context.Context, waiting calendar.Span) error {
	ctx = types.Unmetered(ctx)
	o, err := c.backlog.of(ctx)
	if w := WritesOf(ctx); err == nil && w != nil && w.backlog == nil && w.due {
		o, err = c.backlog.open(ctx)
	}
	if err != nil || o.span.IsEmpty() && waiting.IsEmpty() {
		return err
	}
	var changes []logmap.Change
	if !o.span.IsEmpty() {
		if changes, err = c.changes(ctx, o, WritesOf(ctx).within(o.span)...); err != nil {
			return err
		}
	}
	to, changes, err := c.packMore(ctx, o.span, waiting, changes)
	if err != nil {
		return err
	}
	if err := c.backlog.timers.Apply(ctx, changes...); err != nil {
		return err
	}
	idle, err := c.backlog.timers.Maintain(ctx, types.HeightOf(ctx))
	if err != nil {
		return err
	}
	if waiting.IsEmpty() && idle {
		if left, err := c.backlog.timers.Page(ctx, nil, nil, 1); len(left) > 0 || err != nil {
			return err
		}
		if err := c.backlog.timers.Clear(ctx); err != nil {
			return err
		}
		return c.backlog.span.Remove(ctx)
	}
	if to == o.span {
		return nil
	}
	return c.backlog.span.Set(ctx, append(placeKey(to.From), placeKey(to.To)...))
}

// packMore extends a span toward the end of what waits.
func (c *Calendar) packMore(
	ctx context.Context, packed, waiting calendar.Span, changes []logmap.Change,
) (calendar.Span, []logmap.Change, error) {
	if packed.IsEmpty() {
		packed = calendar.Span{From: waiting.From, To: waiting.From}
	}
	if waiting.IsEmpty() || waiting.To.Compare(packed.To) <= 0 {
		return packed, changes, nil
	}
	left := c.backlog.most
	found, next, _, err := c.page(ctx, packed.To, waiting.To.Due, func(e calendar.Entry[types.Timer]) calendar.Verdict {
		if left -= e.Value.Size(); left < 0 || e.Key.Compare(waiting.To) >= 0 {
			return calendar.Stop
		}
		return calendar.Take
	})
	for i := range found {
		value, err := c.backlog.codec.Encode(found[i].Value)
		if err != nil {
			return packed, nil, err
		}
		changes = append(changes, logmap.Inserted(placeKey(found[i].Key), value))
	}
	if next.Compare(waiting.To) < 0 {
		waiting.To = next
	}
	packed.To = waiting.To
	return packed, changes, err
}

// checkBacklog returns the first difference between the backlog and its span of the queue.
func (c *Calendar) checkBacklog(ctx context.Context) error {
	o, err := c.backlog.open(ctx)
	if err != nil {
		return err
	}
	if err := c.backlog.timers.Check(ctx); err != nil {
		return err
	}
	packed, err := c.backlog.timers.Page(ctx, nil, nil, 1<<30)
	if err != nil {
		return err
	}
	var differs error
	err = c.Walk(ctx, func(e calendar.Entry[types.Timer]) bool {
		if !o.span.Contains(e.Key) {
			return true
		}
		value, err := c.backlog.codec.Encode(e.Value)
		switch {
		case err != nil:
			differs = err
		case len(packed) == 0 || !bytes.Equal(packed[0].Key, placeKey(e.Key)) || !bytes.Equal(packed[0].Value, value):
			differs = fmt.Errorf("the backlog does not have the timer at (%d, %d) as the queue has it", e.Key.Due, e.Key.Seq)
		default:
			packed = packed[1:]
		}
		return differs == nil
	})
	switch {
	case err != nil:
		return err
	case differs == nil && len(packed) > 0:
		return fmt.Errorf("the backlog has %d timers that are not in its span of the queue", len(packed))
	}
	return differs
}

// placeBytes is the length of a place as a key of the backlog.
const placeBytes = 16

func placeKey(k calendar.Key) []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(make([]byte, 0, placeBytes), k.Due), k.Seq)
}

func parsePlace(bz []byte) calendar.Key {
	return calendar.Key{Due: binary.BigEndian.Uint64(bz), Seq: binary.BigEndian.Uint64(bz[8:])}
}
