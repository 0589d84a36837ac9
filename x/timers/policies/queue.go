package policies

import (
	"context"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/schedule"
	"github.com/cosmos-timers/timers/x/timers/state"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// This file holds what every round reads from the queue. The work of a block is proportional to what it fires, not to
// the timers that wait.
//
// Two cursors in state say where to read. Before `live` no timer can still fire: there are only expired timers that the
// cleanup has not reached. So after an outage the expired timers are passed over once, and do not delay live ones in
// later blocks. Before `head` the queue is empty, so that no scan passes over deleted entries.

// ReadLeftovers reads expired timers that were passed over in earlier blocks, at most as many as this block can remove.
func (b *Block) ReadLeftovers(ctx sdk.Context, records *state.Records) error {
	head, live := state.CalendarKey(b.State.HeadCursor), state.CalendarKey(b.State.LiveCursor)
	if head.Compare(live) >= 0 {
		return nil
	}
	left := b.GC.Remaining()
	found, next, _, err := records.Page(ctx, head, b.Height, func(e schedule.Entry[types.Timer]) schedule.Decision {
		if e.Key.Compare(live) >= 0 || left == 0 {
			return schedule.Stop
		}
		left--
		return schedule.Take
	})
	if next.Compare(live) < 0 {
		b.GC.Unswept = &next
	}
	b.GC.Meet(timersOf(found)...)
	return err
}

// ReadLive reads from the live cursor on: at most limit timers that can fire, and expired ones, while the overhead lasts. It
// moves the live cursor. It returns the timers, the position reached, and whether that was all that is due.
func (b *Block) ReadLive(
	ctx sdk.Context, records *state.Records, limit uint32,
) (live []types.Timer, reached schedule.Key, complete bool, err error) {
	left := limit
	found, next, complete, err := records.Page(ctx, state.CalendarKey(b.State.LiveCursor), b.Height,
		func(e schedule.Entry[types.Timer]) schedule.Decision {
			expired := e.Value.ExpiredAt(b.Now())
			if !expired && left == 0 || !b.Overhead.TryConsume(market.ReadWindow) {
				return schedule.Stop
			}
			if !expired {
				left--
			}
			return schedule.Take
		})
	if err != nil {
		return nil, next, false, err
	}
	read := make([]schedule.Key, len(found))
	for i := range found {
		read[i] = found[i].Key
	}
	if err := b.dropStale(schedule.Key{}, next, read); err != nil {
		return nil, next, false, err
	}
	first := next
	live = make([]types.Timer, 0, limit-left)
	for i := range found {
		e := &found[i]
		if e.Value.ExpiredAt(b.Now()) {
			b.GC.Meet(e.Value)
			continue
		}
		if len(live) == 0 {
			first = e.Key
		}
		live = append(live, e.Value)
	}
	b.State.LiveCursor = state.QueueKey(first)
	return live, next, complete, nil
}

// maxStale bounds the entries of the ready index that a block drops without meeting them in their order.
const maxStale = 256

// dropStale drops entries of the ready index whose timers have left the queue, between two places between which the block has
// read all records, while the overhead lasts. So overload ends when few enough timers are ready.
func (b *Block) dropStale(from, to schedule.Key, read []schedule.Key) error {
	if b.Index.Size() == 0 {
		return nil
	}
	places, err := b.Index.Places(from, to, len(read)+maxStale-b.Index.Stale)
	if err != nil {
		return err
	}
	for _, place := range places {
		for len(read) > 0 && read[0].Compare(place) < 0 {
			read = read[1:]
		}
		if len(read) > 0 && read[0] == place {
			continue
		}
		if b.Index.Stale == maxStale || !b.Overhead.TryConsume(market.DropStale) {
			return nil
		}
		b.Index.Stale++
		if err := b.Index.Remove(place); err != nil {
			return err
		}
	}
	return nil
}

// SweepQueue looks for expired timers beyond what ReadLive reached, ScanLimit entries a block, in rounds over the queue.
// Otherwise, under overload, they would stay until the lane reaches them.
func (b *Block) SweepQueue(ctx sdk.Context, records *state.Records, reached schedule.Key, complete bool) error {
	if complete {
		b.State.SweepCursor = types.QueueKey{}
		return nil
	}
	from := state.CalendarKey(b.State.SweepCursor)
	if from.Compare(reached) < 0 {
		from = reached
	}
	limit := b.ScanLimit(market.Scan)
	left := limit
	found, next, complete, err := records.Page(ctx, from, b.Height, func(e schedule.Entry[types.Timer]) schedule.Decision {
		switch {
		case left == 0:
			return schedule.Stop
		case e.Value.ExpiredAt(b.Now()):
			left--
			return schedule.Take
		default:
			left--
			return schedule.Pass
		}
	})
	b.Overhead.Consume(market.Scan, limit-left)
	b.GC.Meet(timersOf(found)...)
	b.State.SweepCursor = state.QueueKey(next)
	if complete {
		b.State.SweepCursor = types.QueueKey{}
	}
	return err
}

// maxScan bounds the ready timers that a block scans in the background: more than twice what the default lane can fire.
const maxScan = 256

// ScanLimit is how many ready timers the block scans in the background, while half of the overhead for upkeep lasts.
func (b *Block) ScanLimit(work market.Work) int {
	return min(maxScan, max(1, b.Overhead.Left(work)/2))
}

// ReadMore reads at most limit timers that can fire, between two keys, while the overhead lasts, and returns where it stopped.
// Expired timers are left to the sweep.
func (b *Block) ReadMore(
	ctx context.Context, records *state.Records, from, to schedule.Key, limit uint32, work market.Work,
) (live []types.Timer, next schedule.Key, err error) {
	left := limit
	found, next, _, err := records.Page(ctx, from, b.Height, func(e schedule.Entry[types.Timer]) schedule.Decision {
		switch {
		case left == 0 || e.Key.Compare(to) >= 0 || !b.Overhead.TryConsume(work):
			return schedule.Stop
		case e.Value.ExpiredAt(b.Now()):
			return schedule.Pass
		default:
			left--
			return schedule.Take
		}
	})
	return timersOf(found), next, err
}

func timersOf(entries []schedule.Entry[types.Timer]) []types.Timer {
	timers := make([]types.Timer, len(entries))
	for i := range entries {
		timers[i] = entries[i].Value
	}
	return timers
}
