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
	"github.com/cosmos-timers/timers/x/timers/types"
)

// Timers holds the records of timers that are neither in the queue nor gone, and wait for no change, in a log-structured map: a
// crowd whose payers lack funds is put on hold by thousands in one block, and looked at by hundreds in each of the next.
type Timers struct {
	// timers: seq → timer.
	timers *logstore.Map
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
	return &Timers{logstore.NewMap(sb, service, types.PrefixSetAside, "set_aside", options), timer}
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
	return a.timers.Apply(ctx, change(key(t.Seq), value))
}

// Remove removes a record, which is there.
func (a *Timers) Remove(ctx context.Context, seq uint64) error {
	logstore.ChargeRemove(ctx)
	return a.timers.Apply(ctx, logmap.Deleted(key(seq)))
}

// Get reads a record, or returns collections.ErrNotFound.
func (a *Timers) Get(ctx context.Context, seq uint64) (t types.Timer, err error) {
	value, found, err := a.timers.Get(ctx, key(seq))
	if err != nil {
		return t, err
	}
	logstore.ChargeRead(ctx, keyBytes+len(value))
	if !found {
		return t, collections.ErrNotFound
	}
	return a.codec.Decode(value)
}

// Walk passes records to fn by seq, from one on, until fn reports that it has enough.
func (a *Timers) Walk(ctx context.Context, seq uint64, fn func(seq uint64, t *types.Timer) (enough bool, err error)) error {
	first := true
	for from := key(seq); ; {
		page, err := a.timers.Page(ctx, from, nil, pageRecords)
		if err != nil {
			return err
		}
		for _, found := range page {
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
		if len(page) < pageRecords {
			break
		}
		from = append(page[len(page)-1].Key[:8:8], 0)
	}
	if first {
		logstore.ChargeStep(ctx, 0)
	}
	return nil
}

// Maintain ends a block whose session was written: it merges.
func (a *Timers) Maintain(ctx context.Context, height uint64) error {
	return a.timers.Maintain(ctx, height)
}

// Settle merges all that waits to be merged, at genesis.
func (a *Timers) Settle(ctx context.Context) error { return a.timers.Settle(ctx) }

// Check returns what is wrong with the map.
func (a *Timers) Check(ctx context.Context) error { return a.timers.Stored().Check(ctx) }
