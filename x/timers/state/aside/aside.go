// Package aside stores the records of the timers that are set aside (x/timers/README.md, "2.3 Log-structured maps").
package aside

import (
	"context"
	"encoding/binary"

	"cosmossdk.io/collections"
	collcodec "cosmossdk.io/collections/codec"
	"cosmossdk.io/core/store"

	"github.com/cosmos-timers/timers/x/timers/logmap"
	"github.com/cosmos-timers/timers/x/timers/state/logstore"
	"github.com/cosmos-timers/timers/x/timers/state/pending"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// Timers holds the records of timers that are neither in the queue nor gone, and wait for no change, in a log-structured map: a
// crowd whose payers lack funds is set aside by thousands in one block, and looked at by hundreds in each of the next.
type Timers struct {
	// timers: seq → timer.
	timers *logmap.Map
	codec  collcodec.ValueCodec[types.Timer]
}

// options shape the map: a chunk has some dozens of records, which are read together.
var options = logmap.Options{LogBytes: 4_096, ChunkBytes: 16_384}

const (
	// pageRecords is how many records are read at once.
	pageRecords = 64
	// keyBytes are those of the key that a record is charged for: the region and a seq.
	keyBytes = 1 + 8
)

// New adds their collection to the schema.
func New(sb *collections.SchemaBuilder, service store.KVStoreService, timer collcodec.ValueCodec[types.Timer]) *Timers {
	return &Timers{logmap.New(logstore.New(sb, service, types.PrefixSetAside, "set_aside"), options), timer}
}

func key(seq uint64) []byte { return binary.BigEndian.AppendUint64(nil, seq) }

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
	logstore.ChargeWrite(ctx, keyBytes+len(value))
	return a.change(ctx, change(key(t.Seq), value))
}

// Remove removes a record, which is there.
func (a *Timers) Remove(ctx context.Context, seq uint64) error {
	logstore.ChargeRemove(ctx)
	return a.change(ctx, logmap.Deleted(key(seq)))
}

// change makes a change. What the steps at the end of a block change is written some dozens at a time, and before a handler or
// an agent runs. What a handler changes is written at once, since it may be undone without them. Reading writes nothing:
// who reads may do so under a branch that is dropped.
func (a *Timers) change(ctx context.Context, change logmap.Change) error {
	changes := pending.Own(ctx)
	if changes == nil {
		return a.timers.Apply(types.Unmetered(ctx), change)
	}
	if changes.AddAside(change) < pending.Most {
		return nil
	}
	return a.Flush(ctx)
}

// Flush writes what the steps have changed. A handler, an agent or a query takes nothing from them.
func (a *Timers) Flush(ctx context.Context) error {
	return a.timers.Apply(types.Unmetered(ctx), pending.Own(ctx).TakeAside()...)
}

// Get reads a record, or returns collections.ErrNotFound.
func (a *Timers) Get(ctx context.Context, seq uint64) (t types.Timer, err error) {
	value, found, changed := logmap.Last(pending.Of(ctx).Aside(), key(seq))
	if !changed {
		if value, found, err = a.timers.Get(types.Unmetered(ctx), key(seq)); err != nil {
			return t, err
		}
	}
	logstore.ChargeRead(ctx, keyBytes+len(value))
	if !found {
		return t, collections.ErrNotFound
	}
	return a.codec.Decode(value)
}

// Walk passes the records to fn, from an insertion number on, until fn reports that it has enough. As by an iterator of the
// store, the first record is charged for when it is found, and each when it is left.
func (a *Timers) Walk(ctx context.Context, seq uint64, fn func(seq uint64, t *types.Timer) (enough bool, err error)) error {
	free, from, first := types.Unmetered(ctx), key(seq), true
	unwritten := pending.Of(ctx).Aside()
	isNew, err := a.timers.IsNew(free)
	if err != nil {
		return err
	}
	none := isNew && len(unwritten) == 0
	if changes := pending.Own(ctx); changes != nil {
		changes.NoneAside = none
	}
	for reader := a.timers.Reader(free); !none; {
		page, err := reader.Page(from, nil, pageRecords)
		if err != nil {
			return err
		}
		var next []byte
		if none = len(page) < pageRecords; !none {
			next = append(page[len(page)-1].Key[:8:8], 0)
		}
		for _, found := range logmap.Overlay(page, unwritten, from, next) {
			bytes := keyBytes + len(found.Value)
			if first {
				logstore.ChargeStep(ctx, bytes)
				first = false
			}
			t, err := a.codec.Decode(found.Value)
			if err != nil {
				return err
			}
			if enough, err := fn(binary.BigEndian.Uint64(found.Key), &t); enough || err != nil {
				return err
			}
			logstore.ChargeStep(ctx, bytes)
		}
		from = next
	}
	if first {
		logstore.ChargeStep(ctx, 0)
	}
	return nil
}

// Maintain ends a block: it writes what the block changed, and merges. Where no timer is left, nothing is.
func (a *Timers) Maintain(ctx context.Context, height uint64) error {
	if err := a.Flush(ctx); err != nil {
		return err
	}
	if changes := pending.Own(ctx); changes != nil && changes.NoneAside {
		// What handlers have set aside is left to the next block.
		return nil
	}
	ctx = types.Unmetered(ctx)
	if none, err := a.timers.IsNew(ctx); none || err != nil {
		return err
	}
	idle, err := a.timers.Maintain(ctx, height)
	if !idle || err != nil {
		return err
	}
	left, err := a.timers.Page(ctx, nil, nil, 1)
	if len(left) > 0 || err != nil {
		return err
	}
	return a.timers.Clear(ctx)
}

// Settle merges all that waits to be merged, at genesis.
func (a *Timers) Settle(ctx context.Context) error { return logstore.Settle(ctx, a.timers) }

// Branch writes changes to a branch of state that is dropped.
func (a *Timers) Branch(ctx context.Context, changes *pending.Changes) error {
	return a.timers.Apply(types.Unmetered(ctx), changes.Aside()...)
}

// Check returns what is wrong with the map.
func (a *Timers) Check(ctx context.Context) error { return a.timers.Check(ctx) }
