package logmap_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosmos-timers/timers/x/timers/logmap"
)

// TestValuesAreOfTheirSizes: with a hundred thousand entries as long as the owner index has them, chunks are no longer than
// with ten thousand. A directory grows with the chunks of its level, by some bytes for each.
//
// Rule: 2-no-growing-values, 2.3-values, 2.3-log
func TestValuesAreOfTheirSizes(t *testing.T) {
	for _, n := range []int{10_000, 100_000} {
		store := newStore()
		m := logmap.New(store, logmap.Options{Range: sixtyFour})
		keys := newKeys()
		for height := uint64(0); height < uint64(n)/1_000; height++ {
			for range 1_000 {
				require.NoError(t, m.Insert(ctx, append(keys.key(), 1, 2, 3, 4, 5, 6), []byte("12345678")))
			}
			_, err := m.Maintain(ctx, height)
			require.NoError(t, err)
		}
		for idle, height := false, uint64(0); !idle; height++ {
			var err error
			idle, err = m.Maintain(ctx, height)
			require.NoError(t, err)
		}

		longest, values := map[byte]int{}, map[byte]int{}
		store.tree.Scan(func(key string, value []byte) bool {
			kind := key[0]
			longest[kind] = max(longest[kind], len(value))
			values[kind]++
			return true
		})
		t.Logf("%d entries: longest values %v, values %v", n, longest, values)
		require.LessOrEqual(t, values[0], 65, "a head for the front and for each range")
		require.LessOrEqual(t, longest[0], 8)
		require.LessOrEqual(t, longest[1], 2_048)
		require.LessOrEqual(t, values[1], 4, "chunks of the log")
		require.LessOrEqual(t, longest[2], 8_000, "a directory of the front, or of a range: all of them are about as large")
		require.LessOrEqual(t, longest[3], 4_096+64)
		require.LessOrEqual(t, len(values), 5)
	}
}

// TestQueue_DirectoriesGrowWithItsChunks: a queue has no ranges, so that one directory lists most of its chunks, each by some
// 13 bytes. Its chunks are no longer with a hundred thousand entries than with ten thousand.
//
// Rule: 2-no-growing-values, 2.3-values
func TestQueue_DirectoriesGrowWithItsChunks(t *testing.T) {
	for _, n := range []int{10_000, 100_000} {
		store, draws := newStore(), rand.New(rand.NewPCG(1, 2))
		m := logmap.New(store, logmap.Options{Queue: true, LogBytes: 4_096, MergeLogs: 8, ChunkBytes: 16_384})
		height := uint64(1)
		for ; height <= uint64(n)/500; height++ {
			for i := range uint64(500) {
				due := height + uint64(n+draws.IntN(n))
				require.NoError(t, m.Insert(ctx, queueKey(due, height*500+i), make([]byte, 90)))
			}
			_, err := m.Maintain(ctx, height)
			require.NoError(t, err)
		}
		for idle := false; !idle; height++ {
			var err error
			idle, err = m.Maintain(ctx, height)
			require.NoError(t, err)
		}

		longest, chunks := map[byte]int{}, 0
		store.tree.Scan(func(key string, value []byte) bool {
			longest[key[0]] = max(longest[key[0]], len(value))
			if key[0] == 3 {
				chunks++
			}
			return true
		})
		t.Logf("%d entries in %d chunks: longest values %v", n, chunks, longest)
		require.LessOrEqual(t, longest[0], 32)
		require.LessOrEqual(t, longest[1], 4_096)
		require.LessOrEqual(t, longest[2], 14*chunks)
		require.LessOrEqual(t, longest[3], 16_384+256)
	}
}
