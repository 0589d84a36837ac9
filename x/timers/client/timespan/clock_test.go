package timespan

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	coretypes "github.com/cometbft/cometbft/rpc/core/types"
	cmttypes "github.com/cometbft/cometbft/types"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cosmos/cosmos-sdk/client"
)

var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC) // a Monday

func TestMoments(t *testing.T) {
	berlin := time.FixedZone("CET", 3600)
	for text, want := range map[string]string{
		"2026-03-02T12:00:01Z": "2026-03-02T12:00:01Z", "2026-03-02 14:30": "2026-03-02T13:30:00Z", "2026-03-03T09:00": "2026-03-03T08:00:00Z",
		"2026-03-02 12:30Z": "2026-03-02T12:30:00Z", "2026-12-31 23:59:59+09:00": "2026-12-31T14:59:59Z",
		"13:00": "2026-03-03T12:00:00Z", "13:00:01": "2026-03-02T12:00:01Z", "9:05": "2026-03-03T08:05:00Z", "12:30Z": "2026-03-02T12:30:00Z",
		"20:59+09:00": "2026-03-03T11:59:00Z", "21:01+09:00": "2026-03-02T12:01:00Z",
	} {
		got, err := ParseMoment(text, noon.In(berlin))
		require.NoError(t, err, text)
		require.Equal(t, want, got.UTC().Format(time.RFC3339), text)
	}
	for text, want := range map[string]string{
		"2026-03-02T12:00:00Z": "has passed: it is 2026-03-02 12:00:00 +00:00", "2025-01-01 00:00": "has passed",
		"24:00": "is no date and time", "09:60": "is no date", "2026-02-30 09:00": "is no date", "-5": "is no date", "09:00+25:99": "is no", "1:2": "is no",
	} {
		_, err := ParseMoment(text, noon)
		require.ErrorContains(t, err, want, "%q", text)
	}
}

// A time of day is the first such moment of the clocks after now, within a day and the hour that a change of clocks takes.
func TestTimesOfDayAreTheNext(t *testing.T) {
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		zone = time.FixedZone("CET", 3600) // a machine without the table of zones
	}
	rapid.Check(t, func(t *rapid.T) {
		now := time.Unix(rapid.Int64Range(1_700_000_000, 1_900_000_000).Draw(t, "now"), 0).In(zone)
		hour, minute := rapid.IntRange(4, 23).Draw(t, "hour"), rapid.IntRange(0, 59).Draw(t, "minute")
		got, err := ParseMoment(fmt.Sprintf("%02d:%02d", hour, minute), now)
		require.NoError(t, err)
		require.Equal(t, [3]int{hour, minute, 0}, [3]int{got.Hour(), got.Minute(), got.Second()})
		require.True(t, got.After(now) && got.Sub(now) <= 25*time.Hour, "%s after %s", got, now)
	})
}

// The height of a moment is the first one that is not expected before it.
func TestHeightsOfMoments(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := Clock{Height: 1000, Time: noon, Pace: Pace{
			Blocks: uint64(rapid.IntRange(1, 100).Draw(t, "blocks")), Time: time.Duration(rapid.Int64Range(1, int64(time.Hour)).Draw(t, "time")),
		}}
		ahead := time.Duration(rapid.Int64Range(1, int64(1000*time.Hour)).Draw(t, "ahead"))
		height, err := c.HeightAt(noon.Add(ahead))
		require.NoError(t, err)
		require.Greater(t, height, c.Height)
		// TimeFor truncates, so that it may say a nanosecond less.
		require.GreaterOrEqual(t, c.Pace.TimeFor(height-c.Height)+1, ahead)
		require.Less(t, c.Pace.TimeFor(height-c.Height-1), ahead)
	})
	c := Clock{Height: 1000, Time: noon, Zone: time.FixedZone("", 3600), Pace: Pace{Blocks: 1, Time: time.Second, Spread: 20 * time.Millisecond}}
	require.Equal(t, "2026-03-02 13:10:00 +01:00", c.Moment(1600))
	require.Equal(t, "in 600 blocks, about 10m0s ± 12s at 1s a block", c.Describe(1600))
	require.Empty(t, c.Moment(1000))
}

// headers is a node that answers some headers at a time.
type headers struct {
	client.CometRPC
	times []time.Time
	page  int64
}

func (h *headers) Status(context.Context) (*coretypes.ResultStatus, error) {
	latest := int64(len(h.times) - 1)
	return &coretypes.ResultStatus{SyncInfo: coretypes.SyncInfo{LatestBlockHeight: latest, LatestBlockTime: h.times[latest], EarliestBlockHeight: 1}}, nil
}

func (h *headers) BlockchainInfo(_ context.Context, from, to int64) (*coretypes.ResultBlockchainInfo, error) {
	found := &coretypes.ResultBlockchainInfo{}
	for height := to; height >= max(from, to-h.page+1); height-- {
		found.BlockMetas = append(found.BlockMetas, &cmttypes.BlockMeta{Header: cmttypes.Header{Height: height, Time: h.times[height]}})
	}
	return found, nil
}

// The pace is the median time of a block, whatever the pages of headers, and the spread covers the mean.
func TestThePaceIsTheMedian(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		steps := rapid.SliceOfN(rapid.Int64Range(1, 10_000), 2, 150).Draw(t, "steps")
		node := &headers{times: []time.Time{{}, {}, noon}, page: rapid.Int64Range(1, 20).Draw(t, "page")}
		for _, step := range steps {
			node.times = append(node.times, node.times[len(node.times)-1].Add(time.Duration(step)*time.Millisecond))
		}
		c, err := ReadClock(context.Background(), node)
		require.NoError(t, err)
		require.NoError(t, c.PaceErr)
		last := steps[max(0, len(steps)-paceBlocks):]
		sum := int64(0)
		for _, step := range last {
			sum += step
		}
		sorted := slices.Sorted(slices.Values(last))
		n := len(sorted)
		median := time.Duration(sorted[(n-1)/2]+sorted[n/2]) * time.Millisecond / 2
		require.Equal(t, median, c.Pace.TimeFor(1))
		require.GreaterOrEqual(t, c.Pace.Spread, (time.Duration(sum)*time.Millisecond/time.Duration(n) - median).Abs())
	})
	// A halt of an hour moves nothing.
	node := &headers{times: []time.Time{{}, {}, noon}, page: 20}
	for i := range 60 {
		step := time.Second
		if i == 30 {
			step = time.Hour
		}
		node.times = append(node.times, node.times[len(node.times)-1].Add(step))
	}
	c, err := ReadClock(context.Background(), node)
	require.NoError(t, err)
	require.Equal(t, "600 blocks, about 10m0s ± 9h59m50s at 1s a block", c.Pace.Describe(600))
}

func TestDurationsForPeople(t *testing.T) {
	for want, d := range map[string]time.Duration{
		"300ms": 333 * time.Millisecond, "12s": 12_340 * time.Millisecond, "47h59m59s": 48*time.Hour - time.Second,
		"2d0h": 48 * time.Hour, "6d18h": 162*time.Hour + 3*time.Minute, "68d0h": 1631*time.Hour + 40*time.Minute,
	} {
		require.Equal(t, want, ForPeople(d))
	}
}
