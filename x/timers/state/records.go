package state

import (
	"context"
	"errors"
	"slices"

	"cosmossdk.io/collections"
	"cosmossdk.io/core/store"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/logmap"
	"github.com/cosmos-timers/timers/x/timers/sandbox"
	"github.com/cosmos-timers/timers/x/timers/schedule"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// Hook keeps state of timers in addition to their records, and is notified when records change: the ready index,
// the watches, the locked bids. It registers with Register, so that code that moves or removes timers need not know it.
type Hook interface {
	// Scheduled is called before Inserted when the timer is new, and not read from a genesis file.
	Scheduled(ctx context.Context, t *types.Timer) error
	// Inserted is called before the record of a timer is first written.
	Inserted(ctx context.Context, t *types.Timer) error
	// Removed is called when the record leaves the queue.
	Removed(ctx context.Context, t *types.Timer) error
	// Moved is called before the record is written at another place. Before is the timer as it was.
	Moved(ctx context.Context, before, t *types.Timer) error
	// Deleted is called when the timer leaves for good.
	Deleted(ctx context.Context, t *types.Timer) error
}

// NoHook is a Hook that does nothing, to embed.
type NoHook struct{}

// Scheduled implements Hook.
func (NoHook) Scheduled(context.Context, *types.Timer) error { return nil }

// Inserted implements Hook.
func (NoHook) Inserted(context.Context, *types.Timer) error { return nil }

// Removed implements Hook.
func (NoHook) Removed(context.Context, *types.Timer) error { return nil }

// Moved implements Hook.
func (NoHook) Moved(context.Context, *types.Timer, *types.Timer) error { return nil }

// Deleted implements Hook.
func (NoHook) Deleted(context.Context, *types.Timer) error { return nil }

// WaitingRoom stores the records of timers that have no due height until an event triggers them.
type WaitingRoom interface {
	Put(ctx context.Context, t *types.Timer) error
	Take(ctx context.Context, t *types.Timer) error
	Get(ctx context.Context, seq uint64) (types.Timer, bool, error)
	Walk(ctx context.Context, fn func(seq uint64, t types.Timer) error) error
	// Waits reports whether a timer that is no longer on hold belongs here, and not in the queue.
	Waits(ctx context.Context, t *types.Timer) (bool, error)
}

// Records holds the live timers. The record of a timer is in one of three places: in the queue, on hold, or in the
// waiting room. It is moved only by the methods of this type, which keep the owner index consistent.
//
// Invariant: every timer has one record and one entry in the owner index, and every entry has its timer.
type Records struct {
	// seq is the next insertion number, from 1. Written by schedule and update: one node a block.
	seq collections.Sequence
	// payloads: seq → payload longer than InlinePayloadBytes. Written once, removed with its timer.
	payloads collections.Map[uint64, []byte]

	// queue holds the timers that have a due height; onHold those that are neither there nor gone.
	queue   *Queue
	onHold  *Queue
	owners  *Owners
	names   Names
	lane    *Lane
	waiting WaitingRoom
	hooks   []Hook
}

var _ Component = (*Records)(nil)

// NewRecords adds the component's collections to the schema.
func NewRecords(sb *collections.SchemaBuilder, service store.KVStoreService, owners *Owners, lane *Lane) *Records {
	return &Records{
		seq:      collections.NewSequence(sb, types.PrefixSeq, "seq"),
		payloads: collections.NewMap(sb, types.PrefixPayloads, "payloads", collections.Uint64Key, collections.BytesValue),
		queue:    NewQueue(sb, service),
		onHold:   NewOnHold(sb, service),
		owners:   owners, names: newNames(sb, service), lane: lane,
	}
}

// Register registers a hook. Hooks are called in the order in which they registered.
func (r *Records) Register(c Hook) { r.hooks = append(r.hooks, c) }

// SetWaitingRoom names the place of timers that wait for a change.
func (r *Records) SetWaitingRoom(room WaitingRoom) { r.waiting = room }

// NextSeq returns a fresh insertion number.
func (r *Records) NextSeq(ctx context.Context) (uint64, error) { return r.seq.Next(ctx) }

// PeekSeq returns the insertion number that no timer has reached.
func (r *Records) PeekSeq(ctx context.Context) (uint64, error) { return r.seq.Peek(ctx) }

// Close ends a block whose session was written: merges continue, by a bounded amount of work.
func (r *Records) Close(ctx sdk.Context) error {
	now := types.MomentOf(ctx)
	if _, err := r.owners.entries.Stored().Maintain(ctx, now.Height); err != nil {
		return err
	}
	if err := r.names.entries.Maintain(ctx, now.Height); err != nil {
		return err
	}
	if err := r.onHold.Close(ctx, uint64(now.Time), now.Height); err != nil {
		return err
	}
	return r.queue.Close(ctx, now.Height, now.Height)
}

// Queue is where the timers are that have a due height.
func (r *Records) Queue() *Queue { return r.queue }

// Page reads the queue from a key to a height, as schedule.ReadDue does.
func (r *Records) Page(
	ctx context.Context, from schedule.Key, height uint64, fn func(schedule.Entry[types.Timer]) schedule.Decision,
) (found []schedule.Entry[types.Timer], next schedule.Key, complete bool, err error) {
	return r.queue.Page(ctx, from, height, fn)
}

// InQueue reads the timer at a place in the queue; false if there is none.
func (r *Records) InQueue(ctx context.Context, key schedule.Key) (types.Timer, bool, error) {
	return r.queue.Get(ctx, key)
}

// Put writes the record of a live timer again, at the same place.
func (r *Records) Put(ctx context.Context, t *types.Timer) error {
	return r.write(ctx, t, logmap.Replaced)
}

// write writes a record where its OnHold says: one that is nowhere (logmap.Inserted), or that is there.
func (r *Records) write(ctx context.Context, t *types.Timer, change func(key, value []byte) logmap.Change) error {
	NoteChange(ctx)
	switch {
	case t.HoldReason == types.NotOnHold:
		return r.queue.Write(ctx, t, change)
	case t.AwaitsChange():
		return r.waiting.Put(ctx, t)
	default:
		return r.onHold.Write(ctx, t, change)
	}
}

// take removes the record from where its OnHold says.
func (r *Records) take(ctx context.Context, t *types.Timer) error {
	if err := r.checkPlace(ctx, t); err != nil {
		return err
	}
	NoteChange(ctx)
	switch {
	case t.HoldReason == types.NotOnHold:
		for _, c := range r.hooks {
			if err := c.Removed(ctx, t); err != nil {
				return err
			}
		}
		return r.queue.Remove(ctx, KeyOf(t.Due, t.Seq))
	case t.AwaitsChange():
		return r.waiting.Take(ctx, t)
	default:
		return r.onHold.Remove(ctx, QueueKeyOf(t))
	}
}

// checkPlace returns an error if a record is not in the queue where it should be. The owner index counts what is taken, so
// that nothing must be taken twice. A block need not look for what it has read and no one has touched since.
func (r *Records) checkPlace(ctx context.Context, t *types.Timer) error {
	if t.HoldReason != types.NotOnHold || !r.queue.MayDiffer(ctx, QueueKeyOf(t)) {
		return nil
	}
	found, err := r.queue.Has(ctx, KeyOf(t.Due, t.Seq))
	if err == nil && !found {
		err = types.ErrInternal.Wrapf("timer %s is not at (%d, %d)", t.IDHex(), t.Due, t.Seq)
	}
	return err
}

// Insert adds a new timer, whose payload is within. Its actor may have maxTimers with it.
func (r *Records) Insert(ctx context.Context, t *types.Timer, maxTimers uint32) error {
	for _, c := range r.hooks {
		if err := c.Scheduled(ctx, t); err != nil {
			return err
		}
	}
	if t.Spec.Name != "" {
		if err := r.claim(ctx, t); err != nil {
			return err
		}
	}
	return r.add(ctx, t, maxTimers)
}

// add writes a timer that is new to this state.
func (r *Records) add(ctx context.Context, t *types.Timer, maxTimers uint32) error {
	if err := r.owners.Add(ctx, t.Actor, EntryOf(t), maxTimers); err != nil {
		return err
	}
	if t.Spec.Name != "" {
		if err := r.enter(ctx, t); err != nil {
			return err
		}
	}
	if err := r.StorePayload(ctx, t); err != nil {
		return err
	}
	for _, c := range r.hooks {
		if err := c.Inserted(ctx, t); err != nil {
			return err
		}
	}
	return r.write(ctx, t, logmap.Inserted)
}

// Remove removes a timer for good, with all its resources.
func (r *Records) Remove(ctx context.Context, t *types.Timer) error {
	if err := r.ReleaseResources(ctx, t); err != nil {
		return err
	}
	return r.RemoveRecord(ctx, t)
}

// ReleaseResources removes what is stored of a timer in addition to its record.
func (r *Records) ReleaseResources(ctx context.Context, t *types.Timer) error {
	for _, c := range r.hooks {
		if err := c.Deleted(ctx, t); err != nil {
			return err
		}
	}
	if t.Spec.Name != "" {
		if err := r.disclaim(ctx, t); err != nil {
			return err
		}
	}
	return r.DropPayload(ctx, t)
}

// RemoveRecord removes a timer's record and keeps its resources.
func (r *Records) RemoveRecord(ctx context.Context, t *types.Timer) error {
	if err := r.owners.remove(ctx, t.Actor, EntryOf(t)); err != nil {
		return err
	}
	return r.take(ctx, t)
}

// RestoreRecord puts back a record that was detached. The timer counted against its actor's limit before.
func (r *Records) RestoreRecord(ctx context.Context, t *types.Timer) error {
	if err := r.owners.Add(ctx, t.Actor, EntryOf(t), Unlimited); err != nil {
		return err
	}
	return r.write(ctx, t, logmap.Inserted)
}

// Move changes a timer whose place may change with it; its payload stays.
func (r *Records) Move(ctx context.Context, t *types.Timer, change func(*types.Timer) error) error {
	before, from := *t, EntryOf(t)
	if err := r.take(ctx, t); err != nil {
		return err
	}
	if err := change(t); err != nil {
		return err
	}
	if to := EntryOf(t); to != from {
		if err := r.owners.move(ctx, t.Actor, from, to); err != nil {
			return err
		}
	}
	if err := r.rename(ctx, &before, t); err != nil {
		return err
	}
	for _, c := range r.hooks {
		if err := c.Moved(ctx, &before, t); err != nil {
			return err
		}
	}
	return r.write(ctx, t, logmap.Inserted)
}

// PutOnHold moves a timer from its place to those that are on hold.
func (r *Records) PutOnHold(ctx context.Context, t *types.Timer, reason types.HoldReason) error {
	return r.Move(ctx, t, func(t *types.Timer) error {
		t.HoldReason, t.Look = reason, false
		return nil
	})
}

// Release moves a timer that was on hold back to the queue, or to where it waits for its time, a look or a change. One that is
// overdue has its place at the height: that of the block whose end releases it, before it reads what is due, or the next one. So the
// lane's cursors need not look back. It counts as due since it was. A change that is not nil is made first.
func (r *Records) Release(ctx context.Context, t *types.Timer, height uint64, change func(*types.Timer) error) error {
	return r.Move(ctx, t, func(t *types.Timer) error {
		if change != nil {
			if err := change(t); err != nil {
				return err
			}
		}
		waits, err := r.waiting.Waits(ctx, t)
		t.HoldReason = types.NotOnHold
		switch {
		case waits:
			t.Watch(max(t.Due, height), true)
			return err
		case t.WaitsForTime(types.MomentOf(ctx)):
			t.HoldReason = types.Timed
		}
		if t.HoldReason == types.NotOnHold {
			t.PlaceAt(height)
		} else {
			t.Due = max(t.Due, height)
		}
		return err
	})
}

// SetEnd writes a timer with another end. What waits for a change or is on hold is ordered by that.
func (r *Records) SetEnd(ctx context.Context, t *types.Timer, change func(*types.Timer)) error {
	if t.HoldReason == types.NotOnHold || t.HoldReason == types.Timed || t.Look {
		change(t)
		return r.Put(ctx, t)
	}
	return r.Move(ctx, t, func(t *types.Timer) error {
		change(t)
		return nil
	})
}

// StorePayload keeps a long payload at its own key, so that moving the record stays cheap.
func (r *Records) StorePayload(ctx context.Context, t *types.Timer) error {
	if len(t.Spec.Call.Payload) <= types.InlinePayloadBytes {
		t.PayloadSeq, t.PayloadBytes = 0, 0
		return nil
	}
	t.PayloadSeq, t.PayloadBytes = t.Seq, uint64(len(t.Spec.Call.Payload))
	payload := t.Spec.Call.Payload
	t.Spec.Call.Payload = nil
	return r.payloads.Set(ctx, t.PayloadSeq, payload)
}

// DropPayload removes a long payload.
func (r *Records) DropPayload(ctx context.Context, t *types.Timer) error {
	if t.PayloadSeq == 0 {
		return nil
	}
	return r.payloads.Remove(ctx, t.PayloadSeq)
}

// PayloadUpTo reads a payload of at most so many bytes. A longer one is not handed out: the error is
// sandbox.ErrTooLarge.
func (r *Records) PayloadUpTo(ctx sdk.Context, t *types.Timer, limit uint64) (payload []byte, err error) {
	if payload = t.Spec.Call.Payload; t.PayloadSeq != 0 {
		most := payloadKeyBytes + min(limit, types.MaxPayloadBytes)
		_, err = sandbox.ReadAtMost(ctx, most, func(ctx sdk.Context) (err error) {
			payload, err = r.payloads.Get(ctx, t.PayloadSeq)
			return err
		})
	}
	if err == nil && uint64(len(payload)) > limit {
		err = sandbox.ErrTooLarge
	}
	return payload, err
}

// payloadKeyBytes are those of a payload's key: the prefix and a seq.
const payloadKeyBytes = 9

// Payload reads the payload from where it is stored.
func (r *Records) Payload(ctx context.Context, t *types.Timer) ([]byte, error) {
	if t.PayloadSeq == 0 {
		return t.Spec.Call.Payload, nil
	}
	return r.payloads.Get(ctx, t.PayloadSeq)
}

// Lookup returns a live timer of the actor by its whole id, or ErrTimerNotFound.
func (r *Records) Lookup(ctx context.Context, actor sdk.AccAddress, id []byte) (found types.Timer, err error) {
	entries, err := r.owners.candidates(ctx, actor, id)
	if err != nil {
		return found, err
	}
	for _, entry := range entries {
		if found, err = r.Load(ctx, entry); err != nil || slices.Equal(found.Id, id) && found.Owner().Equals(actor) {
			return found, err
		}
	}
	return types.Timer{}, types.ErrTimerNotFound.Wrapf("actor %s has no live timer %x", actor, id)
}

// Of returns the actor's live timers by due height, those on hold first; MAX_TIMERS_PER_ACTOR bounds them. A long
// payload is not within.
func (r *Records) Of(ctx context.Context, actor sdk.AccAddress) ([]types.Timer, error) {
	looking, err := Lookups(ctx)
	if err != nil {
		return nil, err
	}
	ctx = looking
	entries, err := r.owners.Of(ctx, actor)
	if err != nil {
		return nil, err
	}
	timers := make([]types.Timer, 0, len(entries))
	for _, entry := range entries {
		timer, err := r.Load(ctx, entry)
		if err != nil {
			return nil, err
		}
		if timer.Owner().Equals(actor) {
			timers = append(timers, timer)
		}
	}
	return timers, nil
}

// Load returns the timer that an entry names.
func (r *Records) Load(ctx context.Context, entry Entry) (types.Timer, error) {
	if entry.Due == 0 && entry.Time == 0 {
		timer, waits, err := r.waiting.Get(ctx, entry.Seq)
		if waits || err != nil {
			return timer, err
		}
	}
	in, key := r.queue, KeyOf(entry.Due, entry.Seq)
	if entry.Due == 0 {
		in, key = r.onHold, KeyOf(uint64(entry.Time), entry.Seq)
	}
	timer, found, err := in.Get(ctx, key)
	if err == nil && !found {
		err = collections.ErrNotFound
	}
	return timer, err
}

// OnHoldFrom reads at most limit timers that are on hold and may return by themselves, from a place on. It returns the place of the
// next one; none if there is none.
func (r *Records) OnHoldFrom(ctx context.Context, from schedule.Key, limit int) (timers []types.Timer, next schedule.Key, err error) {
	if from.Due < placeAwake || from.Due >= placeAsleep {
		from = KeyOf(placeAwake, 0)
	}
	err = r.onHold.Scan(ctx, from, KeyOf(placeAsleep, 0), func(t *types.Timer) (bool, error) {
		if len(timers) == limit {
			next = QueueKeyOf(t)
			return true, nil
		}
		timers = append(timers, *t)
		return false, nil
	})
	return timers, next, err
}

// EndedOnHold reads at most limit timers that are on hold and whose life has ended, by their ends: of those that wait for
// somebody first, and heights before times.
func (r *Records) EndedOnHold(ctx context.Context, now types.Moment, limit int) (timers []types.Timer, err error) {
	for _, place := range []uint64{placeAsleep, placeAwake} {
		for _, ends := range [][2]uint64{{place, place | min(now.Height, lastEnd)}, {place | byTime, place | byTime | uint64(max(0, now.Time))}} {
			if len(timers) >= limit {
				return timers, nil
			}
			err := r.onHold.Scan(ctx, KeyOf(ends[0], 0), KeyOf(ends[1], 0), func(t *types.Timer) (bool, error) {
				timers = append(timers, *t)
				return len(timers) >= limit, nil
			})
			if err != nil {
				return nil, err
			}
		}
	}
	return timers, nil
}

// WalkOnHold passes the timers that are on hold to fn, from a place on, until fn reports that it has enough: first those that may
// return by themselves.
func (r *Records) WalkOnHold(ctx context.Context, from schedule.Key, fn func(t *types.Timer) (enough bool, err error)) error {
	from.Due = max(from.Due, placeAwake)
	return r.onHold.Scan(ctx, from, KeyOf(placesEnd, 0), fn)
}

// WalkTimed passes the timers that wait for a time to fn by (time, seq), from one on and up to a time, until fn reports that it
// has enough.
func (r *Records) WalkTimed(
	ctx context.Context, from int64, seq uint64, until int64, fn func(t *types.Timer) (enough bool, err error),
) error {
	return r.onHold.Scan(ctx, KeyOf(uint64(max(0, from)), seq), KeyOf(uint64(until)+1, 0), fn)
}

// WalkLooks passes the watches that are to be looked at to fn by (due, seq), from a height on and up to another, until fn reports that
// it has enough.
func (r *Records) WalkLooks(ctx context.Context, from, until uint64, fn func(t *types.Timer) (enough bool, err error)) error {
	return r.onHold.Scan(ctx, KeyOf(placeLook|min(from, lastEnd), 0), KeyOf(placeLook|min(until, lastEnd)+1, 0), fn)
}

// WalkQueue passes the timers of the queue to fn in order, until fn reports that it has enough.
func (r *Records) WalkQueue(ctx context.Context, fn func(t *types.Timer) (enough bool)) error {
	return r.queue.Walk(ctx, func(e schedule.Entry[types.Timer]) bool { return !fn(&e.Value) })
}

// Walk passes every record to fn: the queue by (due, seq), those that wait for a time by (time, seq), for a look by (due, seq), those on
// hold by (end, seq), and the waiting room by seq.
func (r *Records) Walk(ctx context.Context, fn func(t *types.Timer) error) error {
	var failed error
	err := r.queue.Walk(ctx, func(e schedule.Entry[types.Timer]) bool {
		failed = fn(&e.Value)
		return failed == nil
	})
	if err := errors.Join(err, failed); err != nil {
		return err
	}
	err = r.onHold.Scan(ctx, schedule.Key{}, KeyOf(placesEnd, 0), func(t *types.Timer) (bool, error) { return false, fn(t) })
	if err != nil {
		return err
	}
	return r.waiting.Walk(ctx, func(_ uint64, t types.Timer) error { return fn(&t) })
}

// All reads every record into memory, in the order of Walk.
func (r *Records) All(ctx context.Context) (timers []types.Timer, err error) {
	err = r.Walk(ctx, func(t *types.Timer) error {
		timers = append(timers, *t)
		return nil
	})
	return timers, err
}
