package logmap_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosmos-timers/timers/x/timers/logmap"
)

// TestValuesAreOfTheirSizes: with a hundred thousand entries as long as the owner index has them, values are no longer than
// with ten thousand.
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
		require.LessOrEqual(t, longest[2], 2*4_096, "a directory")
		require.LessOrEqual(t, longest[3], 4_096+64)
		require.LessOrEqual(t, len(values), 5)
	}
}
