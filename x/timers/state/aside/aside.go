// Package aside stores the records of the timers that are set aside, and of those that wait for a time (x/timers/README.md, "2.3
// Log-structured maps").
package aside

import (
	"context"
	"encoding/binary"

	"cosmossdk.io/collections"
	collcodec "cosmossdk.io/collections/codec"
	"cosmossdk.io/core/store"

	"github.com/cosmos-timers/timers/x/timers/logmap"
	"github.com/cosmos-timers/timers/x/timers/state/logstore"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// Timers holds the records of timers that are neither in the queue nor gone, and wait for no change, in a log-structured map:
// thousands whose payers lack funds are put on hold in one block, and hundreds of them are looked at in each of the next. Those that
// wait for a time lie in its order, behind those that wait for none.
type Timers struct {
	// timers: (time, seq) → timer.
	timers *logstore.Map
	codec  collcodec.ValueCodec[types.Timer]
}

// options shape the map: a chunk has some dozens of records, which are read together. Its head knows the first key, so that a block
// before the first time reads no more.
var options = logmap.Options{Queue: true, LogBytes: 4_096, MergeLogs: 8, ChunkBytes: 16_384}

const (
	// pageRecords is how many records are read at once.
	pageRecords = 64
	// keyBytes are those of the key that a record is charged for: the region and a seq. Times are charged in addition.
	keyBytes = 1 + 8
)

// Place is where a record lies.
type Place struct {
	// Time at which the timer is due, in seconds since 1970; 0 if it waits for none.
	Time int64
	Seq  uint64
}

// PlaceOf is the place of a timer that is set aside or waits for its time.
func PlaceOf(t *types.Timer) Place {
	if t.SetAside == types.Timed {
		return Place{t.DueTime, t.Seq}
	}
	return Place{0, t.Seq}
}

func (p Place) key() []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(make([]byte, 0, 16), uint64(p.Time)), p.Seq)
}

// bytes of the key that a record is charged for.
func (p Place) bytes() int {
	if p.Time > 0 {
		return keyBytes + 8
	}
	return keyBytes
}

func parsePlace(key []byte) Place {
	return Place{int64(binary.BigEndian.Uint64(key)), binary.BigEndian.Uint64(key[8:])}
}

// New adds their collection to the schema.
func New(sb *collections.SchemaBuilder, service store.KVStoreService, timer collcodec.ValueCodec[types.Timer]) *Timers {
	return &Timers{logstore.NewMap(sb, service, types.PrefixSetAside, "set_aside", options), timer}
}

// Insert adds a record.
func (a *Timers) Insert(ctx context.Context, t *types.Timer) error {
	return a.write(ctx, t, logmap.Inserted)
}

// Replace changes a record.
func (a *Timers) Replace(ctx context.Context, t *types.Timer) error {
	return a.write(ctx, t, logmap.Replaced)
}

func (a *Timers) write(ctx context.Context, t *types.Timer, change func(key, value []byte) logmap.Change) error {
	value, err := a.codec.Encode(*t)
	if err != nil {
		return err
	}
	place := PlaceOf(t)
	logstore.ChargeWrite(ctx, place.bytes()+len(value))
	return a.timers.Apply(ctx, change(place.key(), value))
}

// Remove removes a record, which is there.
func (a *Timers) Remove(ctx context.Context, place Place) error {
	logstore.ChargeRemove(ctx)
	return a.timers.Apply(ctx, logmap.Deleted(place.key()))
}

// Has reports whether there is a record at a place.
func (a *Timers) Has(ctx context.Context, place Place) (bool, error) {
	logstore.ChargeHas(ctx)
	_, found, err := a.timers.Get(ctx, place.key())
	return found, err
}

// Get reads a record, or returns collections.ErrNotFound.
func (a *Timers) Get(ctx context.Context, place Place) (t types.Timer, err error) {
	value, found, err := a.timers.Get(ctx, place.key())
	if err != nil {
		return t, err
	}
	logstore.ChargeRead(ctx, place.bytes()+len(value))
	if !found {
		return t, collections.ErrNotFound
	}
	return a.codec.Decode(value)
}

// Walk passes the records of those that wait for no time to fn by seq, from one on, until fn reports that it has enough.
func (a *Timers) Walk(ctx context.Context, seq uint64, fn func(seq uint64, t *types.Timer) (enough bool, err error)) error {
	return a.walk(ctx, Place{0, seq}, Place{1, 0}.key(), func(at Place, t *types.Timer) (bool, error) { return fn(at.Seq, t) })
}

// WalkTimed passes the records of those that wait for a time to fn by (time, seq), from a place on and up to a time, until fn
// reports that it has enough.
func (a *Timers) WalkTimed(
	ctx context.Context, from Place, until int64, fn func(at Place, t *types.Timer) (enough bool, err error),
) error {
	from.Time = max(1, from.Time)
	return a.walk(ctx, from, Place{until + 1, 0}.key(), fn)
}

func (a *Timers) walk(ctx context.Context, start Place, to []byte, fn func(at Place, t *types.Timer) (enough bool, err error)) error {
	first := true
	for from := start.key(); ; {
		page, err := a.timers.Page(ctx, from, to, pageRecords)
		if err != nil {
			return err
		}
		for _, found := range page {
			at := parsePlace(found.Key)
			bytes := at.bytes() + len(found.Value)
			if first {
				logstore.ChargeStep(ctx, bytes)
				first = false
			}
			t, err := a.codec.Decode(found.Value)
			if err != nil {
				return err
			}
			if enough, err := fn(at, &t); enough || err != nil {
				return err
			}
			logstore.ChargeStep(ctx, bytes)
		}
		if len(page) < pageRecords {
			break
		}
		from = append(page[len(page)-1].Key[:16:16], 0)
	}
	if first {
		logstore.ChargeStep(ctx, 0)
	}
	return nil
}

// Close ends a block of a time whose session was written: it merges, and finds what comes first.
func (a *Timers) Close(ctx context.Context, now types.Moment) error {
	if idle, err := a.timers.Idle(ctx, Place{now.Time + 1, 0}.key()); idle || err != nil {
		return err
	}
	stored := a.timers.Stored()
	empty, err := stored.Consume(ctx, nil)
	if err != nil {
		return err
	}
	if empty {
		return stored.Clear(ctx)
	}
	_, err = stored.Maintain(ctx, now.Height)
	return err
}

// Settle merges all that waits to be merged, at genesis.
func (a *Timers) Settle(ctx context.Context) error { return a.timers.Settle(ctx) }

// Check returns what is wrong with the map.
func (a *Timers) Check(ctx context.Context) error { return a.timers.Stored().Check(ctx) }
