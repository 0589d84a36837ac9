// Package queue stores the records of the timers that have a due height, flat or tiered (x/timers/README.md, "2.4
// Calendar").
package queue

import (
	"bytes"
	"context"
	"errors"

	"cosmossdk.io/collections"
	"cosmossdk.io/core/store"

	"github.com/cosmos/cosmos-sdk/codec"
	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/calendar"
	"github.com/cosmos-timers/timers/x/timers/calendar/tiered"
	"github.com/cosmos-timers/timers/x/timers/state/logstore"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// Calendar holds the records. It is tiered if its far tier was begun. To read whether it was costs no gas.
//
// Under the tiered calendar each operation costs the gas that it costs under the flat one, whatever it does to runs and
// chunks: of the same timers it is the same on all nodes, before and after a merge, an export and an import.
type Calendar struct {
	// queue: (due, seq) → timer. The record is the queue entry, so that collecting is one contiguous scan.
	queue collections.Map[heightSeq, types.Timer]
	// far: what the tiered calendar stores beside the queue.
	far collections.Map[[]byte, []byte]

	flat    calendar.Flat[types.Timer]
	tiered  *tiered.Tiered[types.Timer]
	backlog *backlog
	// placements of the records, which are not within.
	placements *placements
}

// NewCalendar adds its collections to the schema.
func NewCalendar(cdc codec.BinaryCodec, sb *collections.SchemaBuilder, service store.KVStoreService) *Calendar {
	timer := codec.CollValue[types.Timer](cdc)
	c := &Calendar{
		queue: collections.NewMap(sb, types.PrefixQueue, "queue", heightSeqKey, timer),
		far:   collections.NewMap(sb, types.PrefixFarTimers, "far_timers", collections.BytesKey, collections.BytesValue),
	}
	c.flat = calendar.NewFlat[types.Timer](queueStore{c.queue})
	c.tiered = tiered.New[types.Timer](queueStore{c.queue}, farStore{c.far, service}, timerCodec{})
	c.backlog = newBacklog(sb, service, timer)
	c.placements = newPlacements(sb, service, timer)
	return c
}

// Begin makes the calendar a tiered one. What is in the queue stays there until it leaves. It is no error if the calendar
// is tiered already.
func (c *Calendar) Begin(ctx context.Context) error {
	isTiered, err := c.IsTiered(ctx)
	if isTiered || err != nil {
		return err
	}
	return c.tiered.Begin(types.Unmetered(ctx))
}

// kindKey is the key of the calendar's kind in the context of a block.
type kindKey struct{}

// WithKind tells the end of a block which calendar is in use, so that it is not read for each timer. It does not change
// within a block.
func WithKind(ctx sdk.Context, kind types.Calendar) sdk.Context {
	return ctx.WithValue(kindKey{}, kind)
}

// IsTiered reports whether the calendar is tiered.
func (c *Calendar) IsTiered(ctx context.Context) (bool, error) {
	if kind, known := ctx.Value(kindKey{}).(types.Calendar); known {
		return kind == types.CalendarTiered, nil
	}
	return c.tiered.Begun(types.Unmetered(ctx))
}

// Insert adds a timer at a place where there is none.
func (c *Calendar) Insert(ctx context.Context, t *types.Timer) error {
	return c.write(ctx, t, c.flat.Insert, c.tiered.Insert)
}

// Replace changes a timer at its place.
func (c *Calendar) Replace(ctx context.Context, t *types.Timer) error {
	return c.write(ctx, t, c.flat.Replace, c.tiered.Replace)
}

func (c *Calendar) write(
	ctx context.Context, t *types.Timer, flat, tiered func(context.Context, calendar.Key, types.Timer) error,
) error {
	key := calendar.Key{Due: t.Due, Seq: t.Seq}
	isTiered, err := c.IsTiered(ctx)
	if err != nil {
		return err
	}
	record, err := c.placements.split(ctx, *t)
	switch {
	case err != nil:
	case isTiered:
		logstore.ChargeWrite(ctx, queueKeyBytes+record.Size())
		err = tiered(types.Unmetered(ctx), key, record)
	default:
		err = flat(ctx, key, record)
	}
	if err != nil {
		return err
	}
	return c.follow(ctx, key, t)
}

// Remove removes the timer at a place.
func (c *Calendar) Remove(ctx context.Context, key calendar.Key) error {
	isTiered, err := c.IsTiered(ctx)
	switch {
	case err != nil:
	case isTiered:
		logstore.ChargeRemove(ctx)
		err = c.tiered.Remove(types.Unmetered(ctx), key)
	default:
		err = c.flat.Remove(ctx, key)
	}
	if err != nil {
		return err
	}
	if err := c.placements.remove(ctx, key); err != nil {
		return err
	}
	return c.follow(ctx, key, nil)
}

// Get returns the timer at a place; false if there is none.
func (c *Calendar) Get(ctx context.Context, key calendar.Key) (t types.Timer, found bool, err error) {
	if t, found, err = c.get(ctx, key); !found || err != nil {
		return t, false, err
	}
	return t, true, c.placements.join(ctx, &t)
}

// get is Get without the timer's placement.
func (c *Calendar) get(ctx context.Context, key calendar.Key) (t types.Timer, found bool, err error) {
	isTiered, err := c.IsTiered(ctx)
	switch {
	case err != nil:
		return t, false, err
	case !isTiered:
		return c.flat.Get(ctx, key)
	}
	t, found, err = c.tiered.Get(types.Unmetered(ctx), key)
	size := queueKeyBytes
	if found {
		size += t.Size()
	}
	logstore.ChargeRead(ctx, size)
	return t, found, err
}

// Has reports whether there is a timer at a place.
func (c *Calendar) Has(ctx context.Context, key calendar.Key) (bool, error) {
	isTiered, err := c.IsTiered(ctx)
	switch {
	case err != nil:
		return false, err
	case !isTiered:
		return c.queue.Has(ctx, collections.Join(key.Due, key.Seq))
	}
	logstore.ChargeHas(ctx)
	_, found, err := c.tiered.Get(types.Unmetered(ctx), key)
	return found, err
}

// Page reads timers from a key to a height, as calendar.Flat.Page does: from the backlog as far as that goes.
func (c *Calendar) Page(
	ctx context.Context, from calendar.Key, height uint64, fn func(calendar.Entry[types.Timer]) calendar.Verdict,
) (found []calendar.Entry[types.Timer], next calendar.Key, complete bool, err error) {
	isDue, err := c.opens(ctx, from, height)
	if err != nil {
		return nil, next, false, err
	}
	if !isDue {
		return nil, calendar.Key{Due: height + 1}, true, nil
	}
	o, err := c.backlog.current(ctx)
	switch {
	case err != nil:
		return nil, next, false, err
	case !o.span.Contains(from):
		return c.page(ctx, from, height, fn)
	}
	keep := func(e calendar.Entry[types.Timer]) calendar.Verdict {
		logstore.ChargeStep(ctx, queueKeyBytes+e.Value.Size())
		return fn(e)
	}
	found, next, complete, err = calendar.Read(height, keep, func(fn func(calendar.Entry[types.Timer]) bool) error {
		return c.backlog.scan(o, from, fn)
	})
	if err != nil || !complete {
		return found, next, complete, err
	}
	more, next, complete, err := c.page(ctx, o.span.To, height, fn)
	return append(found, more...), next, complete, err
}

// page reads from the queue alone. Placements are not read while the queue is: so it goes on anew after each part of them.
func (c *Calendar) page(
	ctx context.Context, from calendar.Key, height uint64, fn func(calendar.Entry[types.Timer]) calendar.Verdict,
) (found []calendar.Entry[types.Timer], next calendar.Key, complete bool, err error) {
	for {
		part, err := c.placements.from(ctx, from, c.placements.partEntries)
		if err != nil {
			return nil, next, false, err
		}
		if part.empty() && len(found) == 0 {
			return c.records(ctx, from, height, fn)
		}
		outran := false
		var failed error
		_, next, complete, err = c.records(ctx, from, height, func(e calendar.Entry[types.Timer]) calendar.Verdict {
			if outran = !part.covers(e.Key); outran {
				return calendar.Stop
			}
			if failed = part.join(ctx, &e.Value); failed != nil {
				return calendar.Stop
			}
			verdict := fn(e)
			if verdict == calendar.Take {
				found, verdict = append(found, e), calendar.Pass
			}
			return verdict
		})
		if err = errors.Join(err, failed); err != nil || !outran {
			return found, next, complete, err
		}
		from = next
	}
}

// records reads from the queue alone, without placements.
func (c *Calendar) records(
	ctx context.Context, from calendar.Key, height uint64, fn func(calendar.Entry[types.Timer]) calendar.Verdict,
) (found []calendar.Entry[types.Timer], next calendar.Key, complete bool, err error) {
	isTiered, err := c.IsTiered(ctx)
	switch {
	case err != nil:
		return nil, next, false, err
	case !isTiered:
		return c.flat.Page(ctx, from, height, fn)
	}
	return c.tiered.Page(types.Unmetered(ctx), from, height, func(e calendar.Entry[types.Timer]) calendar.Verdict {
		logstore.ChargeStep(ctx, queueKeyBytes+e.Value.Size())
		return fn(e)
	})
}

// Walk passes all timers to fn in order, until fn returns false.
func (c *Calendar) Walk(ctx context.Context, fn func(calendar.Entry[types.Timer]) (more bool)) error {
	isTiered, err := c.IsTiered(ctx)
	if err != nil {
		return err
	}
	all, err := c.placements.from(ctx, calendar.Key{}, 1<<30)
	if err != nil {
		return err
	}
	var failed error
	joined := func(e calendar.Entry[types.Timer]) bool {
		failed = all.join(ctx, &e.Value)
		return failed == nil && fn(e)
	}
	if isTiered {
		err = c.tiered.Walk(types.Unmetered(ctx), joined)
	} else {
		err = queueStore{c.queue}.Scan(ctx, calendar.Key{}, joined)
	}
	return errors.Join(err, failed)
}

// Maintain moves timers between the tiers, within the bounds of the config.
func (c *Calendar) Maintain(ctx context.Context, height uint64, config *types.TimerConfig) error {
	isTiered, err := c.IsTiered(ctx)
	if !isTiered || err != nil {
		return err
	}
	return c.tiered.Maintain(types.Unmetered(ctx), height, tiered.Work{Migrations: int(config.MigrationsPerBlock), AheadBlocks: config.RingSize})
}

// Close ends a block: what it inserted is written as a run, what waits between two places is packed into the backlog, and
// merges go on. What waits is due.
func (c *Calendar) Close(ctx context.Context, waiting calendar.Span) error {
	if err := c.closePlacements(ctx); err != nil {
		return err
	}
	if err := c.closeBacklog(ctx, waiting); err != nil {
		return err
	}
	isTiered, err := c.IsTiered(ctx)
	if !isTiered || err != nil {
		return err
	}
	return c.tiered.Close(types.Unmetered(ctx))
}

// Check returns the first broken invariant of the placements, the backlog and the far tier. It reads everything.
func (c *Calendar) Check(ctx context.Context) error {
	if err := c.checkPlacements(types.Unmetered(ctx)); err != nil {
		return err
	}
	if err := c.checkBacklog(types.Unmetered(ctx)); err != nil {
		return err
	}
	isTiered, err := c.IsTiered(ctx)
	if !isTiered || err != nil {
		return err
	}
	return c.tiered.Check(types.Unmetered(ctx))
}

// queueKeyBytes is the length of a queue key: the prefix, due and seq.
const queueKeyBytes = 1 + 8 + 8

// heightSeq is (due, seq).
type heightSeq = collections.Pair[uint64, uint64]

var heightSeqKey = collections.PairKeyCodec(collections.Uint64Key, collections.Uint64Key)

// find reads a map entry that may be absent.
func find[K, V any](ctx context.Context, m collections.Map[K, V], key K) (V, bool, error) {
	value, err := m.Get(ctx, key)
	if errors.Is(err, collections.ErrNotFound) {
		return value, false, nil
	}
	return value, err == nil, err
}

// queueStore is the queue as the calendar's store.
type queueStore struct {
	queue collections.Map[heightSeq, types.Timer]
}

var _ calendar.Store[types.Timer] = queueStore{}

// Set implements calendar.Store.
func (q queueStore) Set(ctx context.Context, key calendar.Key, timer types.Timer) error {
	return q.queue.Set(ctx, collections.Join(key.Due, key.Seq), timer)
}

// Get implements calendar.Store.
func (q queueStore) Get(ctx context.Context, key calendar.Key) (types.Timer, bool, error) {
	return find(ctx, q.queue, collections.Join(key.Due, key.Seq))
}

// Remove implements calendar.Store.
func (q queueStore) Remove(ctx context.Context, key calendar.Key) error {
	return q.queue.Remove(ctx, collections.Join(key.Due, key.Seq))
}

// Scan implements calendar.Store.
func (q queueStore) Scan(
	ctx context.Context, from calendar.Key, fn func(calendar.Entry[types.Timer]) bool,
) error {
	ranger := new(collections.Range[heightSeq]).StartInclusive(collections.Join(from.Due, from.Seq))
	return q.queue.Walk(ctx, ranger, func(key heightSeq, timer types.Timer) (bool, error) {
		entry := calendar.Entry[types.Timer]{Key: calendar.Key{Due: key.K1(), Seq: key.K2()}, Value: timer}
		return !fn(entry), nil
	})
}

// farStore is the far tier's region as its store.
type farStore struct {
	far     collections.Map[[]byte, []byte]
	service store.KVStoreService
}

var _ tiered.Store = farStore{}

// Get implements tiered.Store. It asks the store beneath: each schedule asks whether there is a far tier, and a collection
// takes long to say that a value is not there.
func (f farStore) Get(ctx context.Context, key []byte) ([]byte, error) {
	return f.service.OpenKVStore(ctx).Get(append(types.PrefixFarTimers.Bytes(), key...))
}

// Set implements tiered.Store.
func (f farStore) Set(ctx context.Context, key, value []byte) error {
	return f.far.Set(ctx, key, value)
}

// Delete implements tiered.Store.
func (f farStore) Delete(ctx context.Context, key []byte) error { return f.far.Remove(ctx, key) }

// Scan implements tiered.Store.
func (f farStore) Scan(ctx context.Context, from, to []byte, fn func(key, value []byte) bool) error {
	ranger := new(collections.Range[[]byte]).StartInclusive(from).EndExclusive(to)
	return f.far.Walk(ctx, ranger, func(key, value []byte) (bool, error) {
		return !fn(bytes.Clone(key), bytes.Clone(value)), nil
	})
}

// Last implements tiered.Store.
func (f farStore) Last(ctx context.Context, from, to []byte) (key, value []byte, err error) {
	ranger := new(collections.Range[[]byte]).StartInclusive(from).EndExclusive(to).Descending()
	err = f.far.Walk(ctx, ranger, func(k, v []byte) (bool, error) {
		key, value = bytes.Clone(k), bytes.Clone(v)
		return true, nil
	})
	return key, value, err
}
