package timespan

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/cosmos/cosmos-sdk/client"
)

const (
	// paceBlocks is over how many blocks the block time is averaged.
	paceBlocks = 100
	// LeadBlocks is the least distance from the latest block to a due height: the next block is the first that can take
	// the transaction, and nothing fires in the block that schedules it
	// (x/timers/README.md, "3.1 MsgScheduleTimer").
	LeadBlocks = 2
)

// Clock is what a node knows about now.
type Clock struct {
	// Height and Time of the latest block.
	Height uint64
	Time   time.Time
	// Pace of the last blocks, where PaceErr is nil.
	Pace    Pace
	PaceErr error
}

// ReadClock asks the node for its latest height and the times of its last blocks.
func ReadClock(ctx context.Context, node client.CometRPC) (Clock, error) {
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
	c := Clock{Height: uint64(latest), Time: status.SyncInfo.LatestBlockTime}
	// The first block carries the time of genesis, which may lie days before the chain started.
	from := max(latest-paceBlocks, status.SyncInfo.EarliestBlockHeight, 2)
	if from >= latest {
		c.PaceErr = fmt.Errorf("the node has too few blocks to tell the block time: it is at height %d and has blocks from height %d on, "+
			"the first not counted; want two. State a number of blocks or a height", latest, max(status.SyncInfo.EarliestBlockHeight, 1))
		return c, nil
	}
	first, err := node.BlockchainInfo(ctx, from, from)
	if err != nil {
		return Clock{}, fmt.Errorf("ask the node for the header of height %d: %w", from, err)
	}
	if len(first.BlockMetas) != 1 || first.BlockMetas[0].Header.Height != from {
		return Clock{}, fmt.Errorf("the node has no header of height %d", from)
	}
	elapsed := status.SyncInfo.LatestBlockTime.Sub(first.BlockMetas[0].Header.Time)
	if elapsed <= 0 {
		c.PaceErr = fmt.Errorf("the blocks %d to %d carry no time that grows; state a number of blocks or a height", from, latest)
		return c, nil
	}
	c.Pace = Pace{Blocks: uint64(latest - from), Time: elapsed}
	return c, nil
}

// HeightAfter is the height at a distance from the latest block.
func (c Clock) HeightAfter(s Span) (uint64, error) {
	if s.Blocks == 0 && c.PaceErr != nil {
		return 0, c.PaceErr
	}
	blocks, err := s.In(c.Pace)
	if err != nil {
		return 0, err
	}
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
	return fmt.Sprintf("%s, about %s at %s a block", text, RoundForPeople(c.Pace.TimeFor(blocks)), c.Pace)
}
