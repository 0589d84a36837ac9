package timespan

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cosmos/cosmos-sdk/client"
)

// pageHeaders is how many headers a node answers at once.
const pageHeaders = 20

// Follower knows the pace of a chain that is followed. It asks the node once for every pageHeaders blocks, since it keeps
// the times of the headers that it has seen.
type Follower struct {
	// times of the headers up to height top, oldest first. Invariant: at most paceBlocks + 1.
	times []time.Time
	top   uint64
	clock Clock
}

// Clock is the clock at the latest height. Its pace may be that of pageHeaders blocks ago, and its time is that of height.
func (f *Follower) Clock(ctx context.Context, node client.CometRPC, latest uint64) Clock {
	if f.top == 0 || latest < f.top || latest-f.top >= pageHeaders || f.clock.PaceErr != nil {
		if err := f.read(ctx, node, latest); err != nil {
			f.clock = Clock{PaceErr: err}
		}
	}
	clock := f.clock
	if clock.PaceErr == nil {
		clock.Time = clock.Time.Add(clock.Pace.TimeFor(latest - f.top))
	}
	clock.Height = latest
	return clock
}

// Forget lets the next look ask the node, where an estimate is not enough.
func (f *Follower) Forget() { *f = Follower{} }

// read asks for the headers that it has not seen: for those of one page, since the rest would cost a request each.
func (f *Follower) read(ctx context.Context, node client.CometRPC, latest uint64) error {
	from := uint64(2) // The first block carries the time of genesis.
	if latest >= pageHeaders+from {
		from = latest - pageHeaders + 1
	}
	if f.top >= from && f.top < latest {
		from = f.top + 1
	}
	page, err := node.BlockchainInfo(ctx, int64(from), int64(latest))
	if err != nil {
		return fmt.Errorf("ask the node for the headers %d to %d: %w", from, latest, err)
	}
	fresh := make([]time.Time, len(page.BlockMetas))
	next := latest
	for i, meta := range page.BlockMetas {
		if meta.Header.Height != int64(next) {
			return fmt.Errorf("the node has no header of height %d", next)
		}
		fresh[len(fresh)-1-i] = meta.Header.Time
		next--
	}
	if next != f.top {
		f.times = nil
	}
	f.times = append(f.times, fresh...)
	f.times = append([]time.Time(nil), f.times[max(len(f.times)-paceBlocks-1, 0):]...)
	f.top = latest
	if len(f.times) < 2 {
		return errors.New("the node has too few blocks to tell the block time")
	}
	pace, ok := paceOf(f.times)
	if !ok {
		return errors.New("the last blocks carry no time that grows")
	}
	f.clock = Clock{Time: f.times[len(f.times)-1], Pace: pace}
	return nil
}
