package state

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestHashesDivideIntoRanges: an owner's hash is ten bytes, and hashes are in 64 ranges that rise with them.
//
// Rule: 2.3-ranges
func TestHashesDivideIntoRanges(t *testing.T) {
	require.Len(t, HashOf([]byte("an address")), 10)
	ranges, last := 0, ^uint64(0)
	for first := range 256 {
		hash := make([]byte, 10)
		hash[0] = byte(first)
		if r := HashRange(hash); r != last {
			require.True(t, first == 0 || r > last)
			ranges, last = ranges+1, r
		}
	}
	require.Equal(t, 64, ranges)
	require.Equal(t, HashRange(make([]byte, 10)), HashRange(nil))
}
