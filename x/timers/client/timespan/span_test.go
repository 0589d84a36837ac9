package timespan

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestDurations(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"10m": 10 * time.Minute, "90s": 90 * time.Second, "1h30m": 90 * time.Minute, "1.5h": 90 * time.Minute, "250ms": 250 * time.Millisecond,
		"2d": 48 * time.Hour, "1d12h": 36 * time.Hour, "0d5m": 5 * time.Minute, "30d": 720 * time.Hour, "106751d": 106751 * 24 * time.Hour,
	} {
		got, err := ParseDuration(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	}
	for text, want := range map[string]string{
		"": "is no duration", "10": "is no duration", "d": "is no duration", "1.5d": "is no duration", "-1d": "is no duration", "+1d": "is no duration",
		"1d-1h": "is no duration", "1d+1h": "is no duration", "2d3d": "is no duration", "1d ": "is no duration", "1h2d": "is no duration", "10 m": "is no duration",
		"1w": "is no duration", "0s": "does not lie ahead", "0d": "does not lie ahead", "-5m": "does not lie ahead",
		"106752d": "is too long", "106751d24h": "is too long", "99999999999d": "is no duration", "9223372037s": "is no duration",
	} {
		_, err := ParseDuration(text)
		require.ErrorContains(t, err, want, "%q", text)
		require.ErrorContains(t, err, text)
	}
}

func TestSpans(t *testing.T) {
	for text, want := range map[string]Span{
		"5000": {Blocks: 5000}, "1": {Blocks: 1}, "7d": {Time: 7 * day}, "10m": {Time: 10 * time.Minute},
	} {
		got, err := ParseSpan(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	}
	_, err := ParseCount("99999999999999999999999", "number of blocks")
	require.ErrorContains(t, err, "too large a number of blocks: want at most 9223372036854775807")
	for _, text := range []string{"", "0", "-1", "9223372036854775808", "1 000", "soon", "0s", "1e3"} {
		_, err := ParseSpan(text)
		require.Error(t, err, "%q", text)
	}
}

func TestBlocksAreRoundedUp(t *testing.T) {
	second := Pace{Blocks: 100, Time: 100 * time.Second}
	slow := Pace{Blocks: 3, Time: 20 * time.Second}
	for _, tc := range []struct {
		pace Pace
		time time.Duration
		want uint64
	}{
		{second, time.Second, 1},
		{second, time.Second + 1, 2},
		{second, 1, 1},
		{second, 10 * time.Minute, 600},
		{slow, 20 * time.Second, 3},
		{slow, 7 * time.Second, 2},
		{slow, 6 * time.Second, 1},
		{Pace{Blocks: 99, Time: 98 * time.Second}, 98 * time.Second, 99},
		{Pace{Blocks: 1, Time: math.MaxInt64}, math.MaxInt64, 1},
		{Pace{Blocks: 1, Time: math.MaxInt64}, 1, 1},
	} {
		got, err := tc.pace.BlocksFor(tc.time)
		require.NoError(t, err)
		require.Equal(t, tc.want, got, "%s at %s a block", tc.time, tc.pace)
	}
	_, err := Pace{Blocks: 100, Time: 1}.BlocksFor(math.MaxInt64)
	require.ErrorContains(t, err, "is too long")
}

// A conversion is never early, and never late by a whole block.
func TestConversionIsExactToTheBlock(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := Pace{
			Blocks: rapid.Uint64Range(1, paceBlocks).Draw(t, "blocks"),
			Time:   time.Duration(rapid.Int64Range(int64(time.Millisecond), int64(30*day)).Draw(t, "time")),
		}
		d := time.Duration(rapid.Int64Range(1, int64(100*day)).Draw(t, "duration"))
		blocks, err := p.BlocksFor(d)
		if err != nil {
			t.Fatal(err)
		}
		if p.TimeFor(blocks)+1 < d {
			t.Fatalf("%d blocks take %s, less than %s", blocks, p.TimeFor(blocks), d)
		}
		if p.TimeFor(blocks-1) >= d {
			t.Fatalf("%d blocks already take %s", blocks-1, d)
		}
	})
}

func TestTimesOfManyBlocksSaturate(t *testing.T) {
	require.Equal(t, time.Duration(math.MaxInt64), Pace{Blocks: 1, Time: day}.TimeFor(math.MaxUint64))
	require.Equal(t, time.Duration(math.MaxInt64), Pace{Blocks: 1, Time: time.Second}.TimeFor(1<<34))
	require.Equal(t, 1002*time.Millisecond, Pace{Blocks: 100, Time: 100200 * time.Millisecond}.TimeFor(1))
}

func TestPaceReadsWell(t *testing.T) {
	require.Equal(t, "1.002s", Pace{Blocks: 99, Time: 99_212_345_678}.String())
	require.Equal(t, "6s", Pace{Blocks: 10, Time: time.Minute}.String())
	require.Equal(t, "1.25ms", Pace{Blocks: 4, Time: 5 * time.Millisecond}.String())
}

func TestClockDescribes(t *testing.T) {
	c := Clock{Height: 634, Pace: Pace{Blocks: 100, Time: 100_200 * time.Millisecond}}
	require.Equal(t, "in 600 blocks, about 10m1s at 1.002s a block", c.Describe(1234))
	require.Equal(t, "in the next block, about 1s at 1.002s a block", c.Describe(635))
	require.Equal(t, "the latest block is 634", c.Describe(634))
	height, err := c.HeightAfter(Span{Time: 10 * time.Minute})
	require.NoError(t, err)
	require.EqualValues(t, 634+599, height)
	_, err = c.HeightAfter(Span{Blocks: math.MaxInt64})
	require.ErrorContains(t, err, "beyond any height")
}

func FuzzSpan(f *testing.F) {
	for _, seed := range []string{"10m", "2d", "1d12h", "5000", "-1d", "1d-1h", "106752d", "9999999999999999999d", "d", ""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ParseSpan(text)
		if err != nil {
			return
		}
		if (s.Blocks == 0) == (s.Time == 0) || s.Time < 0 {
			t.Fatalf("%q was read as %+v", text, s)
		}
		if blocks, err := s.In(Pace{Blocks: 100, Time: 100 * time.Second}); err == nil && blocks == 0 {
			t.Fatalf("%q is no block away", text)
		}
	})
}
