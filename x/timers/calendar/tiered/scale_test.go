package tiered_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosmos-timers/timers/x/timers/calendar"
	"github.com/cosmos-timers/timers/x/timers/calendar/tiered"
)

// everyday is what a block of the default config may migrate.
var everyday = tiered.Work{Migrations: 4_096, AheadBlocks: 256}

// block ends a block and fires all that is due. It returns the writes of both.
func (c chain) block(t *testing.T, height uint64) (fired, writes int) {
	t.Helper()
	c.reset()
	require.NoError(t, c.Maintain(ctx, height, everyday))
	due, _, _, err := c.Page(ctx, calendar.Key{}, height, func(entry) calendar.Verdict { return calendar.Take })
	require.NoError(t, err)
	for _, e := range due {
		require.NoError(t, c.Remove(ctx, e.Key))
	}
	require.NoError(t, c.Close(ctx))
	require.LessOrEqual(t, c.passed, 4, "no scan begins before what the block has consumed")
	return len(due), c.writes
}

func (c *counts) reset() { c.reads, c.writes, c.bytes, c.passed, c.deleted = 0, 0, 0, 0, nil }

// TestRunsStayFew: at a steady rate, and with a fifth of the entries returning with their old seq, there are few runs, and
// each entry is written a few times, in bulk.
//
// Rule: 2.4-runs, 2.4-merged-runs
func TestRunsStayFew(t *testing.T) {
	const rate, blocks = 100, 1_200
	c := newChain(false)
	require.NoError(t, c.Begin(ctx))
	rng := rand.New(rand.NewPCG(1, 2))
	seq, pending, bytes, worst := uint64(0), 0, 0, 0
	for height := uint64(1); height <= blocks; height++ {
		c.reset()
		for i := range uint64(rate) {
			key := calendar.Key{Due: height + 1 + rng.Uint64N(1_500), Seq: seq}
			if i%5 == 0 && seq > 0 {
				key = calendar.Key{Due: height + 1_501 + i, Seq: rng.Uint64N(seq)}
			} else {
				seq++
			}
			if _, found, _ := c.Get(ctx, key); !found {
				require.NoError(t, c.Insert(ctx, key, 1))
				pending++
			}
		}
		inserts := c.writes
		fired, writes := c.block(t, height)
		pending -= fired
		bytes += c.counts.bytes
		require.LessOrEqual(t, writes, 2*inserts+4*fired+40, "at height %d", height)
		stats, err := c.Stats(ctx)
		require.NoError(t, err)
		worst = max(worst, stats.Runs)
		require.LessOrEqual(t, stats.DirectoryBytes, 4_096)
	}
	t.Logf("%d pending; at most %d runs; %d bytes written for each entry of 24", pending, worst, bytes/(rate*blocks))
	require.Greater(t, pending, rate*400)
	require.LessOrEqual(t, worst, 2*2*3*16)
	require.NoError(t, c.Check(ctx))
}

// TestACrowdOfAHundredThousand: it is moved before its height, a quarter of the migrations a block, but for what one block
// moves; and what is scheduled meanwhile fires on time.
//
// Rule: 2.4-crowd-ahead
func TestACrowdOfAHundredThousand(t *testing.T) {
	const n, due = 100_000, 400
	c := newChain(false)
	require.NoError(t, c.Begin(ctx))
	seq := uint64(0)
	for height := uint64(1); height <= due; height++ {
		for height <= 100 && seq < height*n/100 {
			require.NoError(t, c.Insert(ctx, calendar.Key{Due: due, Seq: seq}, 1))
			seq++
		}
		bystander := calendar.Key{Due: height + 3, Seq: n + height}
		require.NoError(t, c.Insert(ctx, bystander, 2))
		if height == due {
			break
		}
		fired, writes := c.block(t, height)
		if height > 3 {
			require.Equal(t, 1, fired, "at height %d", height)
		}
		inserted := 0
		if height <= 100 {
			inserted = n / 100
		}
		require.LessOrEqual(t, writes, everyday.Migrations/4*5/4+2*inserted+60, "at height %d", height)
	}
	c.reset()
	require.NoError(t, c.Maintain(ctx, due, everyday))
	require.LessOrEqual(t, c.writes, everyday.Migrations*3/4, "more than one block moves is left")
	require.NoError(t, c.Check(ctx))
}

// TestCancellingOverAndOver: an actor who fills chunks and cancels them writes one key for each, and merges forget both.
//
// Rule: 2.4-dead-dropped
func TestCancellingOverAndOver(t *testing.T) {
	c := newChain(false)
	require.NoError(t, c.Begin(ctx))
	seq := uint64(1)
	var stats tiered.Stats
	for height := uint64(1); height <= 400; height++ {
		for range 100 {
			require.NoError(t, c.Insert(ctx, calendar.Key{Due: 1 << 30, Seq: seq}, 1))
			seq++
		}
		if height > 1 {
			c.reset()
			for i := range uint64(100) {
				require.NoError(t, c.Remove(ctx, calendar.Key{Due: 1 << 30, Seq: seq - 200 + i}))
			}
			require.Equal(t, 100, c.writes)
		}
		_, writes := c.block(t, height)
		require.LessOrEqual(t, writes, 1_000, "at height %d", height)
		var err error
		stats, err = c.Stats(ctx)
		require.NoError(t, err)
	}
	t.Logf("%+v", stats)
	require.LessOrEqual(t, stats.Dead, 3_500, "of 39,900 that were cancelled")
}

// TestLookingUpReadsFewChunks: what was inserted once is found with one chunk, however many runs there are.
func TestLookingUpReadsFewChunks(t *testing.T) {
	c := newChain(false)
	require.NoError(t, c.Begin(ctx))
	for height := uint64(1); height <= 300; height++ {
		for i := range uint64(50) {
			require.NoError(t, c.Insert(ctx, calendar.Key{Due: 10_000 + height*7%50 + i, Seq: height*50 + i}, 1))
		}
		require.NoError(t, c.Close(ctx))
	}
	for i := range uint64(50) {
		c.reset()
		_, found, err := c.Get(ctx, calendar.Key{Due: 10_000 + 150*7%50 + i, Seq: 150*50 + i})
		require.NoError(t, err)
		require.True(t, found)
		require.LessOrEqual(t, c.reads, 6)
	}
}
