package triggers

import (
	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// A change of a key with conditions passes those between its value before and its value now: the segments of the change. A
// block reads a bounded number of conditions of each, and the owners take turns in being notified, together with their
// rounds. What a block does not notify stays in the segment, and the next block goes on there. Each condition that is read
// for nothing is of a timer that counts later changes only; each other makes its timer due, and so leaves the order.

// maxSegments is how many segments of one key a block reads.
const maxSegments = 8

// passing is a segment in this block.
type passing struct {
	*Segment
	found []*passed
	// next is where the conditions that have not been read begin, nil if there are none.
	next []byte
}

// passed is a condition that became true, and whose timer is to be notified.
type passed struct {
	Passed
	segment  *Segment
	notified bool
}

// runConditions finds the conditions that became true, and gives them to the turns of their owners. after gets the key that
// is first in the next block.
func (c *collector) runConditions(ctx sdk.Context, changed []types.WatchKey, after *types.WatchCursors) error {
	if c.watcher == nil {
		return nil
	}
	fees, err := c.watcher.TakeFees(ctx)
	if err != nil {
		return err
	}
	changed = append(changed, fees...)
	left := after.ConditionsLeft
	if left {
		if err := c.readStored(ctx, after); err != nil {
			return err
		}
		kept, err := c.conditions.TakeChanged(ctx)
		if err != nil {
			return err
		}
		changed = append(changed, kept...)
	}
	segments, err := c.conditions.Collect(ctx, changed, c.height)
	if err != nil {
		return err
	}
	if left {
		if err := c.begin(ctx); err != nil {
			return err
		}
	}
	fresh := make([]*passing, len(segments))
	for i := range segments {
		fresh[i] = &passing{Segment: segments[i], next: segments[i].From}
	}
	c.passings = append(c.passings, fresh...)
	_, err = share(len(fresh), len(fresh)+c.quarter(market.ReadCondition), func(i, limit int) (int, bool, error) {
		looked, err := c.read(ctx, fresh[i], limit)
		return max(1, looked), fresh[i].next == nil, err
	})
	return err
}

// readStored reads segments of earlier blocks, of the key whose turn it is and those that follow.
func (c *collector) readStored(ctx sdk.Context, after *types.WatchCursors) error {
	limit := c.quarter(market.VisitOwner)
	// One key more than is read, so that it is known which is next.
	keys, err := c.conditions.KeysWithSegments(ctx, after.Condition, limit+1)
	if err != nil {
		return err
	}
	after.Condition, after.ConditionsLeft = types.WatchKey{}, false
	at, err := share(min(len(keys), limit), c.quarter(market.ReadCondition), func(i, limit int) (int, bool, error) {
		return c.readOld(ctx, keys[i], limit, &after.ConditionsLeft)
	})
	if err == nil && at < len(keys) {
		after.Condition, after.ConditionsLeft = keys[at], true
	}
	return err
}

// begin notifies the timers whose conditions became true between scheduling and their first collection, which is this one.
// There are at most as many as the block before scheduled.
func (c *collector) begin(ctx sdk.Context) error {
	started, err := c.conditions.Begin(ctx, c.height, c.Get)
	if err != nil {
		return err
	}
	for _, s := range started {
		round := c.roundOfKey(s.Key, c.height)
		c.notify(ctx, s.Key.Store, &round, s.Seq)
	}
	return nil
}

// roundOfKey is the change of one key at a height.
func (*collector) roundOfKey(key types.WatchKey, height uint64) types.WatchRound {
	return types.WatchRound{Height: height, Since: height, Changes: []types.WatchChange{{Key: key.Prefix, Height: height}}}
}

// readOld reads the oldest stored segments of a key. It sets left if the key may have more.
func (c *collector) readOld(ctx sdk.Context, key types.WatchKey, limit int, left *bool) (used int, done bool, err error) {
	most := min(limit, maxSegments)
	segments, err := c.conditions.SegmentsOf(ctx, key, most)
	if err != nil {
		return 0, false, err
	}
	*left = *left || len(segments) == most
	for _, s := range segments {
		if used >= limit {
			*left = true
			break
		}
		p := &passing{Segment: s, next: s.From}
		c.passings = append(c.passings, p)
		looked, err := c.read(ctx, p, limit-used)
		if err != nil {
			return used, false, err
		}
		used += max(1, looked)
	}
	return max(1, used), true, nil
}

// read reads at most limit conditions of a segment, and gives those that are to be notified to their owners.
func (c *collector) read(ctx sdk.Context, p *passing, limit int) (looked int, err error) {
	part := *p.Segment
	part.From = p.next
	found, looked, next, err := c.conditions.Scan(ctx, &part, limit)
	if err != nil {
		return looked, err
	}
	c.meter.Consume(market.ReadCondition, looked)
	p.next = next
	for _, f := range found {
		one := &passed{Passed: f, segment: p.Segment}
		p.found = append(p.found, one)
		turn := c.turnOf(f.Owner)
		turn.passed = append(turn.passed, one)
	}
	return looked, nil
}

// servePassed notifies the timer of the first condition of an owner that became true. It returns what the visit counts as.
func (c *collector) servePassed(ctx sdk.Context, turn *ownerTurn) int {
	one := turn.passed[0]
	turn.passed = turn.passed[1:]
	one.notified = true
	round := c.roundOfKey(one.segment.Key, one.segment.Height)
	return c.notify(ctx, one.segment.Key.Store, &round, one.Seq)
}

// storeSegments writes what is left of the segments, and reports whether anything is.
func (c *collector) storeSegments(ctx sdk.Context) (left bool, err error) {
	for _, p := range c.passings {
		from := p.next
		for _, one := range p.found {
			if !one.notified {
				from = one.At
				break
			}
		}
		left = left || from != nil
		if err := c.conditions.Resume(ctx, p.Segment, from); err != nil {
			return left, err
		}
	}
	return left, nil
}

// keepConditions is KeepChanges for conditions. It reports whether the next block has something to look for.
func (c *collector) keepConditions(ctx sdk.Context, changed []types.WatchKey) (left bool, err error) {
	if c.watcher == nil {
		return false, nil
	}
	fees, err := c.watcher.TakeFees(ctx)
	if err != nil {
		return false, err
	}
	if left, err = c.conditions.Keep(ctx, append(changed, fees...)); err != nil {
		return false, err
	}
	starts, err := c.watcher.TakeStarts(ctx)
	if err != nil || !starts {
		return left, err
	}
	deviate, err := c.conditions.Settle(ctx, types.HeightOf(ctx), c.Get)
	return left || deviate, err
}
