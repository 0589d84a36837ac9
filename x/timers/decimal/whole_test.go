package decimal_test

import (
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/decimal"
)

// drawInt draws integers of any size, and those at the ends of 64 bits.
func drawInt(t *rapid.T) math.Int {
	edge := new(big.Int).SetUint64(rapid.SampledFrom([]uint64{0, 1, 9, 10, 1 << 63, 1<<64 - 1}).Draw(t, "edge"))
	value := edge.Add(edge, big.NewInt(rapid.Int64Range(-2, 2).Draw(t, "more")))
	if rapid.Bool().Draw(t, "any") {
		value = new(big.Int).SetBytes(rapid.SliceOfN(rapid.Byte(), 0, 31).Draw(t, "bytes"))
	}
	if rapid.Bool().Draw(t, "negative") {
		value.Neg(value)
	}
	return math.NewIntFromBigInt(value)
}

func TestAnIntegerIsWrittenAsItsOwnFormsDo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := drawInt(t)
		marshalled, err := n.Marshal()
		require.NoError(t, err)
		require.Equal(t, "x"+string(marshalled), string(decimal.AppendInt([]byte("x"), n)))
		require.Equal(t, n.String(), string(decimal.AppendInt(nil, n)))
	})
	absent, err := math.Int{}.Marshal()
	require.NoError(t, err)
	require.Equal(t, string(absent), string(decimal.AppendInt(nil, math.Int{})))
}
