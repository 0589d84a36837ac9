package tip

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestEpochsGoOnWhateverTheirLength: from block to block the number of the epoch stays or grows by one, it grows where its
// end was said to be unless the length changed, and then at once.
func TestEpochsGoOnWhateverTheirLength(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s State
		require.Zero(t, epochAt(&s, 5), "none yet")
		height := rapid.Uint64Range(0, 1000).Draw(t, "height")
		length := rapid.Uint64Range(1, 8).Draw(t, "length")
		follow(&s, length, height)
		require.Equal(t, uint64(1), epochAt(&s, height))
		for range 40 {
			before, end := epochAt(&s, height), endOf(&s, height)
			require.GreaterOrEqual(t, end, height)
			require.Less(t, end, height+length)
			height++
			changed := false
			if rapid.IntRange(0, 9).Draw(t, "change") == 0 {
				next := rapid.Uint64Range(1, 8).Draw(t, "next length")
				changed, length = next != length, next
			}
			follow(&s, length, height)
			want := before
			if changed || height > end {
				want++
			}
			require.Equal(t, want, epochAt(&s, height))
		}
	})
}
