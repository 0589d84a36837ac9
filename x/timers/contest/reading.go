package contest

import (
	"context"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/schedule"
	"github.com/cosmos-timers/timers/x/timers/state"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// Two cursors in state say where to read. Before `live` no timer can still fire: there are only expired timers that the
// cleanup has not reached. So after an outage the expired timers are passed over once, and do not delay live ones in
// later blocks. Before `head` the queue is empty, so that no scan passes over deleted entries.

// GC is the state of the block's cleanup.
type GC struct {
	market.Cleanup
	// Expired timers in the order in which they were met; those of the front were removed.
	Expired []types.Timer
	// met are the seqs of all that were. It is looked up, never ranged over.
	met map[uint64]bool
	// Unswept is the position after the expired timers of earlier blocks that were read, if there are more than this
	// block can remove.
	Unswept *schedule.Key
}

// TakeFor takes the removal of a timer, and reports whether it fits. A watch counts as a removal for each of its keys, all of
// which are written.
func (g *GC) TakeFor(t *types.Timer) bool { return g.Take(max(1, uint64(len(t.WatchKeys())))) }

// Meet notes expired timers for the clean-up, each once: under overload a block may read a timer twice.
func (g *GC) Meet(expired ...types.Timer) {
	for i := range expired {
		if g.met[expired[i].Seq] {
			continue
		}
		if g.met == nil {
			g.met = map[uint64]bool{}
		}
		g.met[expired[i].Seq] = true
		g.Expired = append(g.Expired, expired[i])
	}
}

// ClampCursors clamps the lane's cursors to the beginning of the block's own height, where watches insert the timers
// that they make due. Blocks leave the cursors before it; a genesis file may hold any value.
func (c *Contest) ClampCursors() {
	for _, cursor := range []*types.QueueKey{&c.State.HeadCursor, &c.State.LiveCursor, &c.State.AdmitCursor} {
		if own := (types.QueueKey{Due: c.Now.Height}); own.Before(*cursor) {
			*cursor = own
		}
	}
}

// MoveHead moves the head of the queue to the first expired timer that was not removed, or the first live one. Under overload
// the block may have met later ones before.
func (c *Contest) MoveHead() {
	first := state.CalendarKey(c.State.LiveCursor)
	for i := range c.GC.Expired {
		t := &c.GC.Expired[i]
		if key := state.KeyOf(t.Due, t.Seq); t.HoldReason == types.NotOnHold && key.Compare(first) < 0 {
			first = key
		}
	}
	if c.GC.Unswept != nil && c.GC.Unswept.Compare(first) < 0 {
		first = *c.GC.Unswept
	}
	c.State.HeadCursor = state.QueueKey(first)
}

// Collect reads what is due and may compete, and finds expired timers on the way.
func (c *Contest) Collect(ctx sdk.Context) error {
	if c.indexer != nil {
		return c.collectIndexed(ctx)
	}
	if err := c.readLeftovers(ctx); err != nil {
		return err
	}
	window := c.Config.CandidateWindow
	if c.Traits.QueueOrder {
		window = min(window, pageTimers)
	}
	live, reached, complete, err := c.readLive(ctx, window)
	if err != nil {
		return err
	}
	c.Overloaded = !complete
	switch {
	case c.Traits.QueueOrder:
		c.foundFirstPage(reached, complete)
	case c.Traits.SharesWindow && complete:
		c.State.AdmitCursor = types.QueueKey{}
	case c.Traits.SharesWindow:
		if live, err = c.share(ctx, live, reached); err != nil {
			return err
		}
	}
	c.compete(live)
	return c.sweep(ctx, reached, complete)
}

// share replaces the younger half of a window that does not hold all that is ready: half of it is for the oldest, a quarter for
// those that became due in this block, and a quarter for the others, a part of them after the other, so that every timer competes in
// the end. If the window held the oldest only, timers that wait for ever, for a lower price or for their payers, would exclude all
// others.
func (c *Contest) share(ctx sdk.Context, live []types.Timer, reached schedule.Key) ([]types.Timer, error) {
	window := c.Config.CandidateWindow
	fresh, going := window/4, max(1, window/4)
	if oldest := int(window - fresh - going); len(live) > oldest {
		reached = state.KeyOf(live[oldest].Due, live[oldest].Seq)
		live = live[:oldest]
	}
	now := schedule.Key{Due: c.Now.Height}
	from := state.CalendarKey(c.State.AdmitCursor)
	if from.Compare(reached) < 0 {
		from = reached
	}
	more, next, err := c.readMore(ctx, from, now, going, market.ReadWindow)
	if err != nil {
		return nil, err
	}
	live = append(live, more...)
	c.State.AdmitCursor = state.QueueKey(next)
	if next.Compare(now) >= 0 {
		c.State.AdmitCursor = types.QueueKey{}
	}
	if now.Compare(reached) < 0 {
		now = reached
	}
	more, _, err = c.readMore(ctx, now, schedule.Key{Due: c.Now.Height + 1}, fresh, market.ReadNewlyDue)
	return append(live, more...), err
}

// readLeftovers reads expired timers that were passed over in earlier blocks, at most as many as this block can remove.
func (c *Contest) readLeftovers(ctx sdk.Context) error {
	head, live := state.CalendarKey(c.State.HeadCursor), state.CalendarKey(c.State.LiveCursor)
	if head.Compare(live) >= 0 {
		return nil
	}
	left := c.GC.Remaining()
	found, next, _, err := c.Records.Page(ctx, head, c.Now.Height, func(e schedule.Entry[types.Timer]) schedule.Decision {
		if e.Key.Compare(live) >= 0 || left == 0 {
			return schedule.Stop
		}
		left--
		return schedule.Take
	})
	if next.Compare(live) < 0 {
		c.GC.Unswept = &next
	}
	c.GC.Meet(timersOf(found)...)
	return err
}

// readLive reads from the live cursor on: at most limit timers that can fire, and expired ones, while the overhead lasts. It
// moves the live cursor. It returns the timers, the position reached, and whether that was all that is due.
func (c *Contest) readLive(ctx sdk.Context, limit uint32) (live []types.Timer, reached schedule.Key, complete bool, err error) {
	left := limit
	found, next, complete, err := c.Records.Page(ctx, state.CalendarKey(c.State.LiveCursor), c.Now.Height,
		func(e schedule.Entry[types.Timer]) schedule.Decision {
			expired := e.Value.ExpiredAt(c.Now)
			if !expired && left == 0 || !c.Overhead.TryConsume(market.ReadWindow) {
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
	if err := c.dropStale(schedule.Key{}, next, read); err != nil {
		return nil, next, false, err
	}
	first := next
	live = make([]types.Timer, 0, limit-left)
	for i := range found {
		e := &found[i]
		if e.Value.ExpiredAt(c.Now) {
			c.GC.Meet(e.Value)
			continue
		}
		if len(live) == 0 {
			first = e.Key
		}
		live = append(live, e.Value)
	}
	c.State.LiveCursor = state.QueueKey(first)
	return live, next, complete, nil
}

// maxStale bounds the entries of the ready index that a block drops without meeting them in their order.
const maxStale = 256

// dropStale drops entries of the ready index whose timers have left the queue, between two keys between which the block has
// read all records, while the overhead lasts. So overload ends when few enough timers are ready.
func (c *Contest) dropStale(from, to schedule.Key, read []schedule.Key) error {
	if c.Index.Size() == 0 {
		return nil
	}
	keys, err := c.Index.Places(from, to, len(read)+maxStale-c.Index.Stale)
	if err != nil {
		return err
	}
	for _, key := range keys {
		for len(read) > 0 && read[0].Compare(key) < 0 {
			read = read[1:]
		}
		if len(read) > 0 && read[0] == key {
			continue
		}
		if c.Index.Stale == maxStale || !c.Overhead.TryConsume(market.DropStale) {
			return nil
		}
		c.Index.Stale++
		if err := c.Index.Remove(key); err != nil {
			return err
		}
	}
	return nil
}

// sweep looks for expired timers beyond what readLive reached, scanLimit entries a block, from where the block before ended.
// Otherwise, under overload, they would stay until the lane reaches them.
func (c *Contest) sweep(ctx sdk.Context, reached schedule.Key, complete bool) error {
	if complete {
		c.State.SweepCursor = types.QueueKey{}
		return nil
	}
	from := state.CalendarKey(c.State.SweepCursor)
	if from.Compare(reached) < 0 {
		from = reached
	}
	limit := c.scanLimit(market.Scan)
	left := limit
	found, next, complete, err := c.Records.Page(ctx, from, c.Now.Height, func(e schedule.Entry[types.Timer]) schedule.Decision {
		switch {
		case left == 0:
			return schedule.Stop
		case e.Value.ExpiredAt(c.Now):
			left--
			return schedule.Take
		default:
			left--
			return schedule.Pass
		}
	})
	c.Overhead.Consume(market.Scan, limit-left)
	c.GC.Meet(timersOf(found)...)
	c.State.SweepCursor = state.QueueKey(next)
	if complete {
		c.State.SweepCursor = types.QueueKey{}
	}
	return err
}

// maxScan bounds the ready timers that a block scans in the background: more than twice what the default lane can fire.
const maxScan = 256

// scanLimit is how many ready timers the block scans in the background, while half of the overhead for upkeep lasts.
func (c *Contest) scanLimit(work market.Work) int {
	return min(maxScan, max(1, c.Overhead.Left(work)/2))
}

// readMore reads at most limit timers that can fire, between two keys, while the overhead lasts, and returns where it stopped.
// Expired timers are left to the sweep.
func (c *Contest) readMore(
	ctx context.Context, from, to schedule.Key, limit uint32, work market.Work,
) (live []types.Timer, next schedule.Key, err error) {
	left := limit
	found, next, _, err := c.Records.Page(ctx, from, c.Now.Height, func(e schedule.Entry[types.Timer]) schedule.Decision {
		switch {
		case left == 0 || e.Key.Compare(to) >= 0 || !c.Overhead.TryConsume(work):
			return schedule.Stop
		case e.Value.ExpiredAt(c.Now):
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
