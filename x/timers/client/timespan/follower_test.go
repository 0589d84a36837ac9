package timespan

import (
	"context"
	"testing"
	"time"

	coretypes "github.com/cometbft/cometbft/rpc/core/types"
	cmttypes "github.com/cometbft/cometbft/types"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cosmos/cosmos-sdk/client"
)

// headerNode answers 20 headers at a time, as a node does, and counts the requests.
type headerNode struct {
	client.CometRPC
	times []time.Time // by height
	down  bool
	asked int
}

func (h *headerNode) BlockchainInfo(_ context.Context, from, to int64) (*coretypes.ResultBlockchainInfo, error) {
	h.asked++
	if h.down {
		return nil, context.DeadlineExceeded
	}
	answer := &coretypes.ResultBlockchainInfo{}
	for height := to; height >= max(from, to-19); height-- {
		answer.BlockMetas = append(answer.BlockMetas, &cmttypes.BlockMeta{Header: cmttypes.Header{Height: height, Time: h.times[height]}})
	}
	return answer, nil
}

// TestFollowerKnowsNeighbours: whatever heights are skipped, and whatever fails, its pace is that of headers without a gap,
// the last of which is less than a page ago.
func TestFollowerKnowsNeighbours(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		node := &headerNode{times: []time.Time{{}, noon.Add(-time.Hour)}}
		for at := noon; len(node.times) < 2_000; at = at.Add(time.Duration(500+len(node.times)*7919%1_000) * time.Millisecond) {
			node.times = append(node.times, at)
		}
		var f Follower
		height := uint64(rapid.IntRange(2, 300).Draw(t, "first"))
		for range 30 {
			node.down = rapid.IntRange(0, 9).Draw(t, "down") == 0
			clock := f.Clock(context.Background(), node, height)
			require.Equal(t, height, clock.Height)
			if clock.PaceErr != nil {
				require.True(t, node.down || height == 2)
			} else {
				require.Less(t, height-f.top, uint64(pageHeaders))
				require.LessOrEqual(t, len(f.times), paceBlocks+1)
				known := node.times[f.top+1-uint64(len(f.times)) : f.top+1]
				require.Equal(t, known, f.times)
				want, ok := paceOf(known)
				require.True(t, ok)
				require.Equal(t, want, clock.Pace)
			}
			height += uint64(rapid.IntRange(0, 40).Draw(t, "by"))
		}
	})
}

// TestFollowerAsksOnceForAPage counts the requests for a thousand blocks that are seen one by one.
func TestFollowerAsksOnceForAPage(t *testing.T) {
	node := &headerNode{times: make([]time.Time, 1_200)}
	for i := range node.times {
		node.times[i] = noon.Add(time.Duration(i) * time.Second)
	}
	var f Follower
	for height := uint64(100); height < 1_100; height++ {
		clock := f.Clock(context.Background(), node, height)
		require.NoError(t, clock.PaceErr)
		require.Equal(t, node.times[height], clock.Time)
		require.Equal(t, "1s", clock.Pace.String())
	}
	require.Equal(t, 1_000/pageHeaders, node.asked)
	require.EqualValues(t, paceBlocks, f.clock.Pace.Blocks)
	require.Len(t, f.times, paceBlocks+1)
}
