package logmap

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRangesAreInTheOrderOfTheirKeys(t *testing.T) {
	var last []byte
	for _, r := range []uint64{0, 1, 255, 256, 65_535, 65_536, 1 << 40, ^uint64(0)} {
		key := rangeKey(headPrefix, r)
		require.Negative(t, bytes.Compare(last, key))
		got, err := parseRange(key)
		require.NoError(t, err)
		require.Equal(t, r, got)
		last = key
	}
}
