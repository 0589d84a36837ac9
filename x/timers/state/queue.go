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

// Queue holds records by when they are due, and their seqs, in one log-structured map: what is near lies in its log and youngest
// runs, what is far in merged ones. Each operation costs the gas of the same operation on a plain map, whatever is merged.
type Queue struct {
	// timers: (due, seq) → timer.
	timers *LogMap
	// passes: nothing is inserted that is due before the last block.
	passes bool
}

// options shape the map. A block reads a chunk of each run that has something due.
var options = logmap.Options{Queue: true, LogBytes: 4_096, MergeLogs: 8, ChunkBytes: 16_384}

// NewQueue adds the collections of the timers that have a due height.
func NewQueue(sb *collections.SchemaBuilder, service store.KVStoreService) *Queue {
	return &Queue{NewLogMap(sb, service, types.PrefixQueue, "queue", options), true}
}

// Places of timers that have no due height, in the map of those on hold. What waits for a time comes first, by that, in seconds since
// 1970; then watches that are to be looked at, by the height of that; then those on hold that may return by themselves, and those that
// wait for somebody to release or resume them, of whom a block looks for the expired alone: both by their ends, heights before times.
const (
	placeLook = uint64(1+iota) << 60
	placeAwake
	placeAsleep
	placesEnd
	// byTime is set in the place of one that ends at a time; lastEnd bounds ends, and the heights of looks, in places.
	byTime  = uint64(1) << 59
	lastEnd = byTime - 1
)

// NewOnHold adds the collections of the timers that are on hold, and of those that wait for a time or a look, by that.
func NewOnHold(sb *collections.SchemaBuilder, service store.KVStoreService) *Queue {
	return &Queue{NewLogMap(sb, service, types.PrefixOnHold, "on_hold", options), false}
}

// QueueKeyOf is where a timer lies, in the map to which it belongs.
func QueueKeyOf(t *types.Timer) schedule.Key {
	switch t.HoldReason {
	case types.NotOnHold:
		return schedule.Key{Due: t.Due, Seq: t.Seq}
	case types.Timed:
		return schedule.Key{Due: uint64(t.DueTime), Seq: t.Seq}
	case types.Watching:
		return schedule.Key{Due: placeLook | min(t.Due, lastEnd), Seq: t.Seq}
	case types.Paused, types.Suspended, types.Quarantined:
		return schedule.Key{Due: placeAsleep | EndOf(t), Seq: t.Seq}
	default:
		return schedule.Key{Due: placeAwake | EndOf(t), Seq: t.Seq}
	}
}

// EndOf is the end of a timer's life as a number by which ends are ordered: heights before times.
func EndOf(t *types.Timer) uint64 {
	if t.ExpiresAt == 0 {
		return byTime | uint64(t.ExpiresTime)
	}
	return min(t.ExpiresAt, lastEnd)
}

// RemovalKey orders the timers on hold that leave: those that wait for somebody first, each by their ends, heights before times.
func RemovalKey(t *types.Timer) schedule.Key {
	key := QueueKeyOf(t)
	key.Due ^= placeAwake ^ placeAsleep
	return key
}

// Write makes a change at a timer's place: it inserts it (logmap.Inserted), or replaces it.
func (q *Queue) Write(ctx context.Context, t *types.Timer, change func(key, value []byte) logmap.Change) error {
	key := QueueKeyOf(t)
	chargeWrite(ctx, keyBytes(key)+t.Size())
	value, err := encodeRecord(key, *t)
	if err != nil {
		return err
	}
	return q.timers.Apply(ctx, change(queueKey(key), value))
}

// Remove removes the timer at a place, which is there.
func (q *Queue) Remove(ctx context.Context, key schedule.Key) error {
	chargeRemove(ctx)
	return q.timers.Apply(ctx, logmap.Deleted(queueKey(key)))
}

// Get returns the timer at a place; false if there is none.
func (q *Queue) Get(ctx context.Context, key schedule.Key) (t types.Timer, found bool, err error) {
	value, found, err := q.timers.Get(ctx, queueKey(key))
	if err != nil {
		return t, false, err
	}
	size := keyBytes(key)
	if found {
		if t, err = decode(key, value); err != nil {
			return t, false, err
		}
		size += t.Size()
	}
	chargeRead(ctx, size)
	return t, found, nil
}

// Has reports whether there is a timer at a place.
func (q *Queue) Has(ctx context.Context, key schedule.Key) (bool, error) {
	chargeHas(ctx)
	_, found, err := q.timers.Get(ctx, queueKey(key))
	return found, err
}

// Page returns, in order, timers from a key on that are due at or before a height, as schedule.ReadDue does.
func (q *Queue) Page(
	ctx context.Context, from schedule.Key, height uint64, keep func(schedule.Entry[types.Timer]) schedule.Decision,
) (found []schedule.Entry[types.Timer], next schedule.Key, complete bool, err error) {
	charged := func(e schedule.Entry[types.Timer]) schedule.Decision {
		chargeStep(ctx, keyBytes(e.Key)+e.Value.Size())
		return keep(e)
	}
	return schedule.ReadDue(height, charged, func(fn func(schedule.Entry[types.Timer]) bool) error {
		return q.scan(ctx, from, queueKey(schedule.Key{Due: height + 1}), fn)
	})
}

// Walk passes all timers to fn in order, until fn returns false.
func (q *Queue) Walk(ctx context.Context, fn func(schedule.Entry[types.Timer]) (more bool)) error {
	return q.scan(ctx, schedule.Key{}, nil, fn)
}

// Scan passes the timers from a place on and before another to fn in order, until fn reports that it has enough. It costs the gas
// of an iterator.
func (q *Queue) Scan(ctx context.Context, from, to schedule.Key, fn func(t *types.Timer) (enough bool, err error)) error {
	var failed error
	opened := false
	err := q.scan(ctx, from, queueKey(to), func(e schedule.Entry[types.Timer]) (more bool) {
		bytes := keyBytes(e.Key) + e.Value.Size()
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
	// placeBytes is the length of a place as a key.
	placeBytes = 16
)

// scan passes timers from a place to a key to fn, in order, until fn returns false.
func (q *Queue) scan(ctx context.Context, from schedule.Key, to []byte, fn func(schedule.Entry[types.Timer]) bool) error {
	next := queueKey(from)
	for n := firstPage; ; n = min(2*n, mostPage) {
		page, err := q.timers.Page(ctx, next, to, n)
		if err != nil {
			return err
		}
		for _, entry := range page {
			key := parseQueueKey(entry.Key)
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
		next = append(page[len(page)-1].Key[:placeBytes:placeBytes], 0)
	}
}

// MayDiffer reports whether the record at a place may not be what the block has read. Outside of a block's own steps, where it is
// looked up and paid for, it always is.
func (q *Queue) MayDiffer(ctx context.Context, key schedule.Key) bool {
	return q.timers.MayDiffer(ctx, queueKey(key))
}

// Close ends a block of a height whose session was written, by which what was due at now has been read: merges continue.
func (q *Queue) Close(ctx context.Context, now, height uint64) error {
	stored, end := q.timers.Stored(), queueKey(schedule.Key{Due: now + 1})
	if idle, err := q.idle(ctx, end, height); idle || err != nil {
		return err
	}
	if !q.passes {
		end = nil
	}
	empty, err := stored.Consume(ctx, end)
	if err != nil {
		return err
	}
	if empty {
		return stored.Clear(ctx)
	}
	_, err = stored.Maintain(ctx, height)
	return err
}

// idle reports whether nothing is left below a key, or of the looks up to a height if nothing is before these, and nothing waits to
// be merged. Where what is on hold alone is left, whether any is left is looked at.
func (q *Queue) idle(ctx context.Context, end []byte, height uint64) (bool, error) {
	idle, err := q.timers.Idle(ctx, end)
	if q.passes || !idle || err != nil {
		return idle, err
	}
	from := func(place uint64) (bool, error) { return q.timers.Idle(ctx, queueKey(schedule.Key{Due: place})) }
	if timeless, err := from(placeLook); !timeless || err != nil {
		return true, err
	}
	if holdsAlone, err := from(placeAwake); holdsAlone || err != nil {
		return false, err
	}
	return from(placeLook | height + 1)
}

// Settle merges all that waits to be merged, at genesis.
func (q *Queue) Settle(ctx context.Context) error { return q.timers.Settle(ctx) }

// Check returns the first broken invariant. It reads everything.
func (q *Queue) Check(ctx context.Context) error { return q.timers.Stored().Check(ctx) }

// keyBytes is the length of the key for which a record is charged: the region, seq, and where there is one, due.
func keyBytes(k schedule.Key) int {
	if k.Due >= placeAwake && k.Due < placesEnd {
		return 1 + 8
	}
	return 1 + placeBytes
}

func queueKey(k schedule.Key) []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(make([]byte, 0, placeBytes), k.Due), k.Seq)
}

func parseQueueKey(bz []byte) schedule.Key {
	return schedule.Key{Due: binary.BigEndian.Uint64(bz), Seq: binary.BigEndian.Uint64(bz[8:])}
}

// encodeRecord encodes the record at a place, without what follows from that, which is a quarter of a short record: due and seq;
// the height of a trigger that has nothing else; and the id of a timer that is where it was scheduled. A record with a due
// height is whole, and so is one that has none in its place.
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

// decode decodes the record at a place.
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
