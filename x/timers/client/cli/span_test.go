package cli

import (
	"math"
	"strings"
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
		got, err := parseDuration(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	}
	for text, want := range map[string]string{
		"": "is no duration", "10": "is no duration", "d": "is no duration", "1.5d": "is no duration", "-1d": "is no duration", "+1d": "is no duration",
		"1d-1h": "is no duration", "1d+1h": "is no duration", "2d3d": "is no duration", "1d ": "is no duration", "1h2d": "is no duration", "10 m": "is no duration",
		"1w": "is no duration", "0s": "does not lie ahead", "0d": "does not lie ahead", "-5m": "does not lie ahead",
		"106752d": "is too long", "106751d24h": "is too long", "99999999999d": "is no duration", "9223372037s": "is no duration",
	} {
		_, err := parseDuration(text)
		require.ErrorContains(t, err, want, "%q", text)
		require.ErrorContains(t, err, text)
	}
}

func TestSpans(t *testing.T) {
	for text, want := range map[string]span{
		"5000": {blocks: 5000}, "1": {blocks: 1}, "7d": {time: 7 * day}, "10m": {time: 10 * time.Minute},
	} {
		got, err := parseSpan(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	}
	for _, text := range []string{"", "0", "-1", "9223372036854775808", "1 000", "soon", "0s", "1e3"} {
		_, err := parseSpan(text)
		require.Error(t, err, "%q", text)
	}
}

func TestBlocksAreRoundedUp(t *testing.T) {
	second := pace{blocks: 100, time: 100 * time.Second}
	slow := pace{blocks: 3, time: 20 * time.Second}
	for _, tc := range []struct {
		pace pace
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
		{pace{blocks: 99, time: 98 * time.Second}, 98 * time.Second, 99},
		{pace{blocks: 1, time: math.MaxInt64}, math.MaxInt64, 1},
		{pace{blocks: 1, time: math.MaxInt64}, 1, 1},
	} {
		got, err := tc.pace.blocksFor(tc.time)
		require.NoError(t, err)
		require.Equal(t, tc.want, got, "%s at %s a block", tc.time, tc.pace)
	}
	_, err := pace{blocks: 100, time: 1}.blocksFor(math.MaxInt64)
	require.ErrorContains(t, err, "is too long")
}

// A conversion is never early, and never late by a whole block.
func TestConversionIsExactToTheBlock(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := pace{
			blocks: rapid.Uint64Range(1, paceBlocks).Draw(t, "blocks"),
			time:   time.Duration(rapid.Int64Range(int64(time.Millisecond), int64(30*day)).Draw(t, "time")),
		}
		d := time.Duration(rapid.Int64Range(1, int64(100*day)).Draw(t, "duration"))
		blocks, err := p.blocksFor(d)
		if err != nil {
			t.Fatal(err)
		}
		if p.timeFor(blocks)+1 < d {
			t.Fatalf("%d blocks take %s, less than %s", blocks, p.timeFor(blocks), d)
		}
		if p.timeFor(blocks-1) >= d {
			t.Fatalf("%d blocks already take %s", blocks-1, d)
		}
	})
}

func TestTimesOfManyBlocksSaturate(t *testing.T) {
	require.Equal(t, time.Duration(math.MaxInt64), pace{blocks: 1, time: day}.timeFor(math.MaxUint64))
	require.Equal(t, time.Duration(math.MaxInt64), pace{blocks: 1, time: time.Second}.timeFor(1<<34))
	require.Equal(t, 1002*time.Millisecond, pace{blocks: 100, time: 100200 * time.Millisecond}.timeFor(1))
}

func TestPaceReadsWell(t *testing.T) {
	require.Equal(t, "1.002s", pace{blocks: 99, time: 99_212_345_678}.String())
	require.Equal(t, "6s", pace{blocks: 10, time: time.Minute}.String())
	require.Equal(t, "1.25ms", pace{blocks: 4, time: 5 * time.Millisecond}.String())
}

func TestClockDescribes(t *testing.T) {
	c := clock{height: 634, pace: pace{blocks: 100, time: 100_200 * time.Millisecond}}
	require.Equal(t, "in 600 blocks, about 10m1s at 1.002s a block", c.describe(1234))
	require.Equal(t, "in the next block, about 1s at 1.002s a block", c.describe(635))
	require.Equal(t, "the latest block is 634", c.describe(634))
	height, err := c.heightAfter(span{time: 10 * time.Minute})
	require.NoError(t, err)
	require.EqualValues(t, 634+599, height)
	_, err = c.heightAfter(span{blocks: math.MaxInt64})
	require.ErrorContains(t, err, "beyond any height")
}

func TestNames(t *testing.T) {
	whole := strings.Repeat("0aF", 22)[:64]
	for text, want := range map[string]name{
		"3fa9":         {prefix: "3fa9"},
		"alice/3FA9":   {actor: "alice", prefix: "3fa9"},
		"a b/0":        {actor: "a b", prefix: "0"},
		whole:          {prefix: strings.ToLower(whole)},
		"bob/" + whole: {actor: "bob", prefix: strings.ToLower(whole)},
	} {
		got, err := parseName(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got)
		require.Equal(t, len(want.prefix) == 64, got.whole())
	}
	for text, want := range map[string]string{
		"": "has 0 digits", "alice/": "has 0 digits", "/3fa9": "names no actor", "alice/xyz": "want hexadecimal digits", "alice/3fa9/1": "want hexadecimal digits",
		"0x3fa9": "want hexadecimal digits", whole + "0": "has 65 digits", "alice": "want hexadecimal digits", " 3fa9": "want hexadecimal digits",
	} {
		_, err := parseName(text)
		require.ErrorContains(t, err, want, "%q", text)
		require.ErrorContains(t, err, "want ACTOR/ID-PREFIX")
	}
}

func FuzzSpan(f *testing.F) {
	for _, seed := range []string{"10m", "2d", "1d12h", "5000", "-1d", "1d-1h", "106752d", "9999999999999999999d", "d", ""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := parseSpan(text)
		if err != nil {
			return
		}
		if (s.blocks == 0) == (s.time == 0) || s.time < 0 {
			t.Fatalf("%q was read as %+v", text, s)
		}
		if blocks, err := s.in(pace{blocks: 100, time: 100 * time.Second}); err == nil && blocks == 0 {
			t.Fatalf("%q is no block away", text)
		}
	})
}
