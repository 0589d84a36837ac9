package state

import (
	"context"
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

// Records holds the live timers, each in one map under the key that follows from it (RecordKey). It is moved only by the methods of
// this type, which keep the owner index consistent.
//
// Invariant: every timer has one record and one entry in the owner index, and every entry has its timer.
type Records struct {
	// seq is the next insertion number, from 1. Written by schedule and update: one node a block.
	seq collections.Sequence
	// payloads: seq → payload longer than InlinePayloadBytes. Written once, removed with its timer.
	payloads collections.Map[uint64, []byte]

	recordMap
	owners *Owners
	names  Names
	lane   *Lane
	hooks  []Hook
}

var _ Component = (*Records)(nil)

// NewRecords adds the component's collections to the schema.
func NewRecords(sb *collections.SchemaBuilder, service store.KVStoreService, owners *Owners, lane *Lane) *Records {
	return &Records{
		seq:       collections.NewSequence(sb, types.PrefixSeq, "seq"),
		payloads:  collections.NewMap(sb, types.PrefixPayloads, "payloads", collections.Uint64Key, collections.BytesValue),
		recordMap: newRecordMap(sb, service),
		owners:    owners, names: newNames(sb, service), lane: lane,
	}
}

// Register registers a hook. Hooks are called in the order in which they registered.
func (r *Records) Register(c Hook) { r.hooks = append(r.hooks, c) }

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
	return r.close(ctx, now)
}

// InQueue reads the timer with a key in the queue; false if there is none.
func (r *Records) InQueue(ctx context.Context, key schedule.Key) (types.Timer, bool, error) {
	return r.get(ctx, key)
}

// MayDiffer reports whether the record with a key may not be what the block has read. Outside of a block's own steps, where it is
// looked up and paid for, it always is.
func (r *Records) MayDiffer(ctx context.Context, key schedule.Key) bool {
	return r.timers.MayDiffer(ctx, keyBytes(key))
}

// HasLeft reports whether the record that the block has read with a key is there no more. It need not look for what no one has touched
// since.
func (r *Records) HasLeft(ctx context.Context, key schedule.Key) (bool, error) {
	if !r.MayDiffer(ctx, key) {
		return false, nil
	}
	found, err := r.has(ctx, key)
	return !found, err
}

// Put writes the record of a live timer again, with the same key.
func (r *Records) Put(ctx context.Context, t *types.Timer) error {
	return r.write(ctx, t, logmap.Replaced)
}

// write writes a record that is nowhere (logmap.Inserted), or that is there.
func (r *Records) write(ctx context.Context, t *types.Timer, change func(key, value []byte) logmap.Change) error {
	NoteChange(ctx)
	return r.recordMap.write(ctx, t, change)
}

// take removes a record. The owner index counts what is taken, so that nothing in the queue must be taken twice.
func (r *Records) take(ctx context.Context, t *types.Timer) error {
	key := RecordKey(t)
	if t.HoldReason == types.NotOnHold {
		left, err := r.HasLeft(ctx, key)
		if err == nil && left {
			err = types.ErrInternal.Wrapf("timer %s is not at (%d, %d)", t.IDHex(), t.Due, t.Seq)
		}
		if err != nil {
			return err
		}
		for _, c := range r.hooks {
			if err := c.Removed(ctx, t); err != nil {
				return err
			}
		}
	}
	NoteChange(ctx)
	return r.recordMap.remove(ctx, key)
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
// lane's cursors need not look back. It counts as due since it was. A change is made first: it says of a watch that waits on that
// it is Watching.
func (r *Records) Release(ctx context.Context, t *types.Timer, height uint64, change func(*types.Timer) error) error {
	return r.Move(ctx, t, func(t *types.Timer) error {
		err := change(t)
		switch {
		case t.HoldReason == types.Watching:
			t.Watch(max(t.Due, height), true)
		case t.WaitsForTime(types.MomentOf(ctx)):
			t.HoldReason, t.Due = types.Timed, max(t.Due, height)
		default:
			t.HoldReason = types.NotOnHold
			t.PlaceAt(height)
		}
		return err
	})
}

// SetEnd writes a timer with another end. What waits for a change or is on hold is ordered by that.
func (r *Records) SetEnd(ctx context.Context, t *types.Timer, change func(*types.Timer)) error {
	next := *t
	if change(&next); RecordKey(&next) == RecordKey(t) {
		*t = next
		return r.Put(ctx, t)
	}
	return r.Move(ctx, t, func(t *types.Timer) error {
		*t = next
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

// Of returns the actor's live timers in the order of Owners.Of; MAX_TIMERS_PER_ACTOR bounds them. A long
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
	timer, found, err := r.get(ctx, entry.Key)
	if err == nil && !found {
		err = collections.ErrNotFound
	}
	return timer, err
}

// Watching returns the watch of an owner that waits for a change, by its seq and the beginning of its id; false if it does not wait.
func (r *Records) Watching(ctx context.Context, owner sdk.AccAddress, id []byte, seq uint64) (t types.Timer, found bool, err error) {
	key, found, err := r.owners.keyOf(ctx, owner, id, seq)
	if class := classOf(key); err != nil || !found || class != ClassWatching && class != classWatchingByTime {
		return t, false, err
	}
	return r.get(ctx, key)
}

// Returning reads at most limit timers that are on hold and may return by themselves, from a key on. It returns the key of the next
// one; none if there is none.
func (r *Records) Returning(ctx context.Context, from schedule.Key, limit int) (timers []types.Timer, next schedule.Key, err error) {
	within := Range{From: from, To: classesEnd.At(0, 0)}
	if first := ClassReturning.At(0, 0); from.Compare(first) < 0 {
		within.From = first
	}
	err = r.Walk(ctx, within, func(t *types.Timer) (bool, error) {
		if len(timers) == limit {
			next = RecordKey(t)
			return true, nil
		}
		timers = append(timers, *t)
		return false, nil
	})
	return timers, next, err
}

// Ended reads at most limit timers of classes by ends whose life has ended: those of a class after those of the one before, heights
// before times.
func (r *Records) Ended(ctx context.Context, now types.Moment, limit int, classes ...Class) (timers []types.Timer, err error) {
	for _, class := range classes {
		for _, ended := range []Range{class.Between(0, max(1, now.Height)-1), (class + 1).Between(0, uint64(max(1, now.Time)-1))} {
			if len(timers) >= limit {
				return timers, nil
			}
			err := r.Walk(ctx, ended, func(t *types.Timer) (bool, error) {
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

// All reads every record into memory, in the order of Walk.
func (r *Records) All(ctx context.Context) (timers []types.Timer, err error) {
	err = r.Walk(ctx, Range{}, func(t *types.Timer) (bool, error) {
		timers = append(timers, *t)
		return false, nil
	})
	return timers, err
}
