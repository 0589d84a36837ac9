package decimal_test

import (
	"encoding/json"
	"math/big"
	"strings"
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

// TestInt_IsWhatTheSDKsIs: a number that is not negative is written as the SDK writes it, and read back.
func TestInt_IsWhatTheSDKsIs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := drawInt(t)
		value := decimal.IntOf(n)
		want, err := n.Marshal()
		require.NoError(t, err)
		wire, err := value.Marshal()
		require.NoError(t, err)
		require.Equal(t, want, wire)
		encoded, err := json.Marshal(value)
		require.NoError(t, err)
		wantJSON, err := json.Marshal(n)
		require.NoError(t, err)
		require.JSONEq(t, string(wantJSON), string(encoded))
		var again, fromJSON decimal.Int
		if n.IsNegative() {
			require.Error(t, again.Unmarshal(wire))
			require.Error(t, fromJSON.UnmarshalJSON(encoded))
			return
		}
		require.NoError(t, again.Unmarshal(wire))
		require.NoError(t, fromJSON.UnmarshalJSON(encoded))
		require.True(t, value.Equal(again))
		require.True(t, value.Equal(fromJSON))
		require.False(t, value.Equal(decimal.IntOf(n.AddRaw(1))))
	})
}

// TestInt_LongTextIsRefusedUnread: the SDK's integer takes 2.4 GB and 1.5 s to read a million digits.
func TestInt_LongTextIsRefusedUnread(t *testing.T) {
	largest := strings.Repeat("1", 78)
	value, err := decimal.ParseInt(largest)
	require.NoError(t, err)
	require.Equal(t, largest, value.String())
	require.False(t, value.Equal(decimal.Int{}))
	require.True(t, decimal.Int{}.Equal(decimal.Int{}))
	value, err = decimal.ParseInt("010")
	require.NoError(t, err)
	require.Equal(t, "10", value.String(), "no octal digits")
	require.Equal(t, 256, mustInt(t, "115792089237316195423570985008687907853269984665640564039457584007913129639935").BigInt().BitLen())
	_, err = decimal.ParseInt("115792089237316195423570985008687907853269984665640564039457584007913129639936")
	require.Error(t, err)
	for _, text := range []string{"", "-1", "+1", " 1", "1.0", "1e3", "0x1", "x", strings.Repeat("9", 78), strings.Repeat("0", 79)} {
		_, err := decimal.ParseInt(text)
		require.Error(t, err, text)
	}
	long := []byte(strings.Repeat("9", 1<<20))
	quoted := []byte(`"` + string(long) + `"`)
	require.Less(t, testing.AllocsPerRun(10, func() {
		if value.Unmarshal(long) == nil || value.UnmarshalJSON(quoted) == nil {
			panic("read")
		}
	}), 20.0)
	for _, text := range []string{`1`, `{}`, `[]`, `"x"`} {
		require.Error(t, value.UnmarshalJSON([]byte(text)), text)
	}
	var absent decimal.Int
	require.NoError(t, absent.Unmarshal(nil))
	require.True(t, absent.IsNil())
}

func mustInt(t *testing.T, text string) decimal.Int {
	t.Helper()
	value, err := decimal.ParseInt(text)
	require.NoError(t, err)
	return value
}
