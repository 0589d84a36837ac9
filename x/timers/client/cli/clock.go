package cli

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/cosmos/cosmos-sdk/client"
)

const (
	// paceBlocks is over how many blocks the block time is averaged.
	paceBlocks = 100
	// leadBlocks is the least distance from the latest block to a due height: the next block is the first that can take
	// the transaction, and nothing fires in the block that schedules it (SPEC §3).
	leadBlocks = 2
)

// clock is what a node knows about now.
type clock struct {
	// height of the latest block.
	height uint64
	// pace of the last blocks, where paceErr is nil.
	pace    pace
	paceErr error
}

// readClock asks the node for its latest height and the times of its last blocks.
func readClock(ctx context.Context, node client.CometRPC) (clock, error) {
	status, err := node.Status(ctx)
	if err != nil {
		return clock{}, fmt.Errorf("ask the node for its height: %w", err)
	}
	latest := status.SyncInfo.LatestBlockHeight
	switch {
	case status.SyncInfo.CatchingUp:
		return clock{}, fmt.Errorf("the node is still catching up at height %d: distances from its latest block would be wrong; "+
			"name another with --node, or state a height", latest)
	case latest < 1:
		return clock{}, errors.New("the chain has no block yet; state a height")
	}
	c := clock{height: uint64(latest)}
	// The first block carries the time of genesis, which may lie days before the chain started.
	from := max(latest-paceBlocks, status.SyncInfo.EarliestBlockHeight, 2)
	if from >= latest {
		c.paceErr = fmt.Errorf("the node has too few blocks to tell the block time: it is at height %d and has blocks from height %d on, "+
			"the first not counted; want two. State a number of blocks or a height", latest, max(status.SyncInfo.EarliestBlockHeight, 1))
		return c, nil
	}
	first, err := node.BlockchainInfo(ctx, from, from)
	if err != nil {
		return clock{}, fmt.Errorf("ask the node for the header of height %d: %w", from, err)
	}
	if len(first.BlockMetas) != 1 || first.BlockMetas[0].Header.Height != from {
		return clock{}, fmt.Errorf("the node has no header of height %d", from)
	}
	elapsed := status.SyncInfo.LatestBlockTime.Sub(first.BlockMetas[0].Header.Time)
	if elapsed <= 0 {
		c.paceErr = fmt.Errorf("the blocks %d to %d carry no time that grows; state a number of blocks or a height", from, latest)
		return c, nil
	}
	c.pace = pace{blocks: uint64(latest - from), time: elapsed}
	return c, nil
}

// heightAfter is the height at a distance from the latest block.
func (c clock) heightAfter(s span) (uint64, error) {
	if s.blocks == 0 && c.paceErr != nil {
		return 0, c.paceErr
	}
	blocks, err := s.in(c.pace)
	if err != nil {
		return 0, err
	}
	if blocks > math.MaxInt64-c.height {
		return 0, fmt.Errorf("%d blocks from height %d is beyond any height", blocks, c.height)
	}
	return c.height + blocks, nil
}

// describe tells where a height lies from here: "in 600 blocks, about 10m0s at 1.002s a block".
func (c clock) describe(height uint64) string {
	if height <= c.height {
		return fmt.Sprintf("the latest block is %d", c.height)
	}
	blocks := height - c.height
	text := fmt.Sprintf("in %d blocks", blocks)
	if blocks == 1 {
		text = "in the next block"
	}
	if c.paceErr != nil {
		return text
	}
	return fmt.Sprintf("%s, about %s at %s a block", text, roundForPeople(c.pace.timeFor(blocks)), c.pace)
}
