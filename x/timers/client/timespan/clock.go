package timespan

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/cosmos/cosmos-sdk/client"
)

const (
	// paceBlocks is of how many blocks the median time is taken.
	paceBlocks = 100
	// LeadBlocks is the least distance from the latest block to a due height: the next block is the first that can take
	// the transaction, and nothing fires in the block that schedules it
	// (x/timers/README.md, "3.1 MsgScheduleTimer").
	LeadBlocks = 2
)

// Clock is what a node knows about now, and what the machine of who asks says.
type Clock struct {
	// Height and Time of the latest block.
	Height uint64
	Time   time.Time
	// Now is what the machine of who asks says, and Zone is its zone; unset where neither counts.
	Now  time.Time
	Zone *time.Location
	// Pace of the last blocks, where PaceErr is nil.
	Pace    Pace
	PaceErr error
}

// ReadClock asks the node for its latest height and the times of its last blocks.
func ReadClock(ctx context.Context, node client.CometRPC) (Clock, error) {
	machine := MachineOf(ctx)
	zone, err := machine.Zone()
	if err != nil {
		return Clock{}, err
	}
	status, err := node.Status(ctx)
	if err != nil {
		return Clock{}, fmt.Errorf("ask the node for its height: %w", err)
	}
	latest := status.SyncInfo.LatestBlockHeight
	switch {
	case status.SyncInfo.CatchingUp:
		return Clock{}, fmt.Errorf("the node is still catching up at height %d: distances from its latest block would be wrong; "+
			"name another with --node, or state a height", latest)
	case latest < 1:
		return Clock{}, errors.New("the chain has no block yet; state a height")
	}
	c := Clock{Height: uint64(latest), Time: status.SyncInfo.LatestBlockTime, Now: machine.Now(), Zone: zone}
	// The first block carries the time of genesis, which may lie days before the chain started.
	from := max(latest-paceBlocks, status.SyncInfo.EarliestBlockHeight, 2)
	if from >= latest {
		c.PaceErr = fmt.Errorf("the node has too few blocks to tell the block time: it is at height %d and has blocks from height %d on, "+
			"the first not counted; want two. State a number of blocks or a height", latest, max(status.SyncInfo.EarliestBlockHeight, 1))
		return c, nil
	}
	times, err := headerTimes(ctx, node, from, latest)
	if err != nil {
		return Clock{}, err
	}
	pace, ok := paceOf(times)
	if !ok {
		c.PaceErr = fmt.Errorf("the blocks %d to %d carry no time that grows; state a number of blocks or a height", from, latest)
		return c, nil
	}
	c.Pace = pace
	return c, nil
}

// headerTimes are the times of the blocks of a range, in order. A node answers a few headers at a time, from the top.
func headerTimes(ctx context.Context, node client.CometRPC, from, to int64) ([]time.Time, error) {
	times := make([]time.Time, to-from+1)
	for next := to; next >= from; {
		page, err := node.BlockchainInfo(ctx, from, next)
		if err != nil {
			return nil, fmt.Errorf("ask the node for the headers %d to %d: %w", from, next, err)
		}
		for _, meta := range page.BlockMetas {
			if meta.Header.Height != next {
				break
			}
			times[next-from] = meta.Header.Time
			if next--; next < from {
				return times, nil
			}
		}
		if len(page.BlockMetas) == 0 || page.BlockMetas[0].Header.Height == next {
			return nil, fmt.Errorf("the node has no header of height %d", next)
		}
	}
	return times, nil
}

// paceOf is the median time from one block to the next, which a halt of the chain does not move, and how far the blocks
// are from it: half of what the middle half of them spans, and at least the distance of the mean. It is false if the median
// is no time that passes.
func paceOf(times []time.Time) (Pace, bool) {
	steps := make([]time.Duration, len(times)-1)
	for i := range steps {
		steps[i] = times[i+1].Sub(times[i])
	}
	n := len(steps)
	mean := times[n].Sub(times[0]) / time.Duration(n)
	slices.Sort(steps)
	median := (steps[(n-1)/2] + steps[n/2]) / 2
	spread := max((steps[3*(n-1)/4]-steps[(n-1)/4])/2, (mean - median).Abs())
	return Pace{Blocks: uint64(n), Time: median * time.Duration(n), Spread: spread}, median > 0
}

// Present is now where times are read: of the machine's clock and the latest block's, the later, in the zone of the machine.
func (c Clock) Present() time.Time {
	now := c.Time
	if c.Now.After(now) {
		now = c.Now
	}
	if c.Zone != nil {
		now = now.In(c.Zone)
	}
	return now
}

// Age is how long ago the latest block was made, as the machine's clock says; 0 where its time is not known.
func (c Clock) Age() time.Duration {
	if c.Time.IsZero() {
		return 0
	}
	return max(c.Present().Sub(c.Time), 0)
}

// late is by how much the next block is later than the pace says. It can't be made before now.
func (c Clock) late() time.Duration { return max(c.Age()-c.ofBlock(), 0) }

// ofBlock is the time of a block; 0 where it is not known.
func (c Clock) ofBlock() time.Duration {
	if c.PaceErr != nil || c.Pace.Blocks == 0 {
		return 0
	}
	return c.Pace.TimeFor(1)
}

// Patience is after what time without a block a chain is taken for halted. It is so long that a clock of the machine that is
// off by seconds says nothing.
func Patience(ofBlock time.Duration) time.Duration { return max(30*time.Second, 20*ofBlock) }

// Halted tells whether the chain may be halted: no block came for so long.
func (c Clock) Halted() bool { return c.Age() > Patience(c.ofBlock()) }

// DescribeHalt says what makes the chain look halted.
func (c Clock) DescribeHalt() string {
	return fmt.Sprintf("the last block, %d, is of %s, %s ago by the clock of this machine: the chain may be halted, or that clock be wrong. "+
		"Times count from now, as if it went on", c.Height, c.Stamp(c.Time), ForPeople(c.Age()))
}

// HeightAfter is the height at a distance from the latest block, or at a time from now.
func (c Clock) HeightAfter(s Span) (uint64, error) {
	if s.Blocks == 0 {
		// What has gone by of the next block's time does not count.
		return c.heightIn(s.Time + min(c.Age(), c.ofBlock(), math.MaxInt64-s.Time))
	}
	return c.above(s.Blocks)
}

// heightIn is the height at a time from the latest block, at the pace.
func (c Clock) heightIn(d time.Duration) (uint64, error) {
	if c.PaceErr != nil {
		return 0, c.PaceErr
	}
	blocks, err := c.Pace.BlocksFor(d)
	if err != nil {
		return 0, err
	}
	return c.above(blocks)
}

func (c Clock) above(blocks uint64) (uint64, error) {
	if blocks > math.MaxInt64-c.Height {
		return 0, fmt.Errorf("%d blocks from height %d is beyond any height", blocks, c.Height)
	}
	return c.Height + blocks, nil
}

// Describe tells where a height lies from here: "in 600 blocks, about 10m0s at 1.002s a block".
func (c Clock) Describe(height uint64) string {
	if height <= c.Height {
		return fmt.Sprintf("the latest block is %d", c.Height)
	}
	blocks := height - c.Height
	text := fmt.Sprintf("in %d blocks", blocks)
	if blocks == 1 {
		text = "in the next block"
	}
	if c.PaceErr != nil {
		return text
	}
	return fmt.Sprintf("%s, about %s at %s a block", text, c.Pace.about(blocks), c.Pace)
}
