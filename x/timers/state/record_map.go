package state

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"

	"cosmossdk.io/collections"
	"cosmossdk.io/core/store"

	"github.com/cosmos-timers/timers/x/timers/logmap"
	"github.com/cosmos-timers/timers/x/timers/schedule"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// Class says where a record is. It is the first byte of the record's key, in which the order of its class follows, and its seq.
// So the queue is a class, and who looks for what has ended, or whose time has come, reads the beginning of one.
type Class byte

// The classes in their order. Those by an end have two, of ends that are heights and of ends that are times. What leaves is removed in
// this order.
const (
	// ClassQueued has a due height, and is ordered by that.
	ClassQueued Class = iota
	// ClassTimed waits for a time, in seconds since 1970.
	ClassTimed
	// ClassLooked are watches that are to be looked at, by the height of that.
	ClassLooked
	// ClassWatching waits for a change, ClassHeld for somebody who releases or resumes it: by its end.
	ClassWatching
	classWatchingByTime
	ClassHeld
	classHeldByTime
	// ClassReturning is on hold and may return by itself: by its end.
	ClassReturning
	classReturningByTime
	classesEnd
)

const (
	// orderBits are those of a key in which a class orders its records, below the class.
	orderBits = 56
	lastOrder = uint64(1)<<orderBits - 1
)

// At is the key of a record in the class. Of the queue it is the due height and the seq.
func (c Class) At(order, seq uint64) schedule.Key {
	return schedule.Key{Due: uint64(c)<<orderBits | min(order, lastOrder), Seq: seq}
}

// Between are the records of the class whose order is at least from and at most to.
func (c Class) Between(from, to uint64) Range { return Range{c.At(from, 0), c.At(to, ^uint64(0))} }

// Range is an interval of keys, both of them included. The zero Range has all.
type Range struct{ From, To schedule.Key }

// OnHold are the records that are on hold, from a key on: those that wait for somebody first.
func OnHold(from schedule.Key) Range {
	if first := ClassHeld.At(0, 0); from.Compare(first) < 0 {
		from = first
	}
	return Range{from, schedule.Key{}}
}

// classOf is the class of a key.
func classOf(key schedule.Key) Class { return Class(key.Due >> orderBits) }

// RecordKey is the key of a timer's record.
func RecordKey(t *types.Timer) schedule.Key {
	byEnd := ClassReturning
	switch t.HoldReason {
	case types.NotOnHold:
		return ClassQueued.At(t.Due, t.Seq)
	case types.Timed:
		return ClassTimed.At(uint64(t.DueTime), t.Seq)
	case types.Watching:
		if t.Look {
			return ClassLooked.At(t.Due, t.Seq)
		}
		byEnd = ClassWatching
	case types.Paused, types.Suspended, types.Quarantined:
		byEnd = ClassHeld
	}
	if t.ExpiresAt == 0 {
		return (byEnd + 1).At(uint64(t.ExpiresTime), t.Seq)
	}
	return byEnd.At(t.ExpiresAt, t.Seq)
}

// recordMap is the one map of records, a log-structured one: of each record, its key (RecordKey) → the record. Each operation costs
// the gas of the same operation on a plain map, whatever is merged.
type recordMap struct{ timers *LogMap }

// options shape the map. A block reads a chunk of each run that has something due.
var options = logmap.Options{Queue: true, LogBytes: 4_096, MergeLogs: 8, ChunkBytes: 16_384}

func newRecordMap(sb *collections.SchemaBuilder, service store.KVStoreService) recordMap {
	return recordMap{NewLogMap(sb, service, types.PrefixRecords, "records", options)}
}

// write inserts a record (logmap.Inserted), or replaces it.
func (m recordMap) write(ctx context.Context, t *types.Timer, change func(key, value []byte) logmap.Change) error {
	key := RecordKey(t)
	chargeWrite(ctx, chargedBytes(key)+t.Size())
	value, err := encodeRecord(key, *t)
	if err != nil {
		return err
	}
	return m.timers.Apply(ctx, change(keyBytes(key), value))
}

// remove removes the record with a key, which is there.
func (m recordMap) remove(ctx context.Context, key schedule.Key) error {
	chargeRemove(ctx)
	return m.timers.Apply(ctx, logmap.Deleted(keyBytes(key)))
}

// get returns the record with a key; false if there is none.
func (m recordMap) get(ctx context.Context, key schedule.Key) (t types.Timer, found bool, err error) {
	value, found, err := m.timers.Get(ctx, keyBytes(key))
	if err != nil {
		return t, false, err
	}
	size := chargedBytes(key)
	if found {
		if t, err = decode(key, value); err != nil {
			return t, false, err
		}
		size += t.Size()
	}
	chargeRead(ctx, size)
	return t, found, nil
}

// has reports whether there is a record with a key.
func (m recordMap) has(ctx context.Context, key schedule.Key) (bool, error) {
	chargeHas(ctx)
	_, found, err := m.timers.Get(ctx, keyBytes(key))
	return found, err
}

// Page returns, in order, timers of the queue from a key on that are due at or before a height, as schedule.ReadDue does.
func (m recordMap) Page(
	ctx context.Context, from schedule.Key, height uint64, keep func(schedule.Entry[types.Timer]) schedule.Decision,
) (found []schedule.Entry[types.Timer], next schedule.Key, complete bool, err error) {
	charged := func(e schedule.Entry[types.Timer]) schedule.Decision {
		chargeStep(ctx, chargedBytes(e.Key)+e.Value.Size())
		return keep(e)
	}
	return schedule.ReadDue(height, charged, func(fn func(schedule.Entry[types.Timer]) bool) error {
		return m.scan(ctx, Range{from, ClassQueued.At(height, ^uint64(0))}, fn)
	})
}

// Walk passes the records of a range to fn in the order of their keys, until fn reports that it has enough. It costs the gas of an
// iterator.
func (m recordMap) Walk(ctx context.Context, within Range, fn func(t *types.Timer) (enough bool, err error)) error {
	var failed error
	opened := false
	err := m.scan(ctx, within, func(e schedule.Entry[types.Timer]) (more bool) {
		bytes := chargedBytes(e.Key) + e.Value.Size()
		if !opened {
			chargeStep(ctx, bytes)
			opened = true
		}
		var enough bool
		if enough, failed = fn(&e.Value); enough || failed != nil {
			return false
		}
		chargeStep(ctx, bytes)
		return true
	})
	if !opened {
		chargeStep(ctx, 0)
	}
	return errors.Join(err, failed)
}

const (
	// The first page that is read has so many entries, and each further one twice as many, up to the most.
	firstPage = 32
	mostPage  = 512
	// wholeKeyBytes is the length of a key.
	wholeKeyBytes = 16
)

// scan passes the records of a range to fn, in order, until fn returns false.
func (m recordMap) scan(ctx context.Context, within Range, fn func(schedule.Entry[types.Timer]) bool) error {
	next, to := keyBytes(within.From), []byte(nil)
	if within.To != (schedule.Key{}) {
		to = append(keyBytes(within.To), 0)
	}
	for n := firstPage; ; n = min(2*n, mostPage) {
		page, err := m.timers.Page(ctx, next, to, n)
		if err != nil {
			return err
		}
		for _, entry := range page {
			key := parseKey(entry.Key)
			t, err := decode(key, entry.Value)
			if err != nil {
				return err
			}
			if !fn(schedule.Entry[types.Timer]{Key: key, Value: t}) {
				return nil
			}
		}
		if len(page) < n {
			return nil
		}
		next = append(page[len(page)-1].Key[:wholeKeyBytes:wholeKeyBytes], 0)
	}
}

// close ends a block whose session was written, by which what was due has been read, and what had ended: merges continue.
func (m recordMap) close(ctx context.Context, now types.Moment) error {
	height, seconds := now.Height, uint64(max(0, now.Time))
	passed := keyBytes(ClassQueued.At(height+1, 0))
	reached := [][]byte{passed}
	for _, key := range []schedule.Key{
		ClassTimed.At(seconds+1, 0), ClassLooked.At(height+1, 0), ClassWatching.At(height, 0), classWatchingByTime.At(seconds, 0),
		ClassHeld.At(height, 0), classHeldByTime.At(seconds, 0),
		// Of those that may return by themselves all are read.
		ClassReturning.At(lastOrder, 0), classReturningByTime.At(lastOrder, 0),
	} {
		reached = append(reached, keyBytes(key))
	}
	if idle, err := m.timers.Idle(ctx, reached...); idle || err != nil {
		return err
	}
	empty, err := m.timers.Stored().Consume(ctx, passed, reached...)
	if err != nil {
		return err
	}
	if empty {
		return m.timers.Stored().Clear(ctx)
	}
	_, err = m.timers.Stored().Maintain(ctx, height)
	return err
}

// chargedBytes is the length of the key for which a record is charged: the region and the key, of what is ordered by its end the
// region and seq.
func chargedBytes(k schedule.Key) int {
	if classOf(k) >= ClassWatching {
		return 1 + wholeKeyBytes/2
	}
	return 1 + wholeKeyBytes
}

func keyBytes(k schedule.Key) []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(make([]byte, 0, wholeKeyBytes+1), k.Due), k.Seq)
}

func parseKey(bz []byte) schedule.Key {
	return schedule.Key{Due: binary.BigEndian.Uint64(bz), Seq: binary.BigEndian.Uint64(bz[8:])}
}

// encodeRecord encodes the record with a key, without what follows from that, which is a quarter of a short record: due and seq;
// the height of a trigger that has nothing else; and the id of a timer that is where it was scheduled. A record that states a due
// height is whole, and so is one that is not in the queue.
func encodeRecord(key schedule.Key, t types.Timer) ([]byte, error) {
	if t.HoldReason != types.NotOnHold || len(t.Id) == 0 || t.Spec.Trigger.Equal(types.Trigger{}) {
		return t.Marshal()
	}
	if t.Spec.Trigger.Equal(types.Trigger{Height: key.Due}) {
		t.Spec.Trigger.Height = 0
	}
	// Of a timer that has fired, or whose payload lies elsewhere, the id is another.
	if t.FireSeq == 0 && t.PayloadSeq == 0 && bytes.Equal(t.Id, idOf(key, &t)) {
		t.Id = nil
	}
	t.Due, t.Seq = 0, 0
	return t.Marshal()
}

// decode decodes the record with a key.
func decode(key schedule.Key, bz []byte) (t types.Timer, err error) {
	if err := t.Unmarshal(bz); err != nil || t.Due != 0 || t.HoldReason != types.NotOnHold {
		return t, err
	}
	if len(t.Id) == 0 {
		t.Id = idOf(key, &t)
	}
	if t.Spec.Trigger.Equal(types.Trigger{}) {
		t.Spec.Trigger.Height = key.Due
	}
	t.Due, t.Seq = key.Due, key.Seq
	return t, nil
}

func idOf(key schedule.Key, t *types.Timer) []byte {
	return types.TimerID(t.Actor, key.Due, t.Spec.Call.Payload, key.Seq)
}
