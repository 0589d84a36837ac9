package evmbinding

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// manySpecs are the arguments of a batch with lists in its lists.
func manySpecs(t rapid.TB, n, watches int, payload []byte) []byte {
	t.Helper()
	all := make([]TimerSpec, n)
	for i := range all {
		all[i] = plain(TimerSpec{Name: "a name", Call: TimerCall{Payload: payload}})
		for range watches {
			key := WatchKey{When: WatchCondition{Value: new(big.Int)}, Name: "denom", Key: []byte{1, 2}}
			all[i].Trigger.Watch.Keys = append(all[i].Trigger.Watch.Keys, key)
		}
	}
	input, err := ABI.Methods["scheduleBatch"].Inputs.Pack(all)
	require.NoError(t, err)
	return input
}

// TestDecodedBytes_OfAnInputThatOverlaps: what compilers write counts at most its length; elements that name one place
// count each, and so do lists in them; counting ends.
func TestDecodedBytes_OfAnInputThatOverlaps(t *testing.T) {
	inputs := ABI.Methods["scheduleBatch"].Inputs
	rapid.Check(t, func(t *rapid.T) {
		payload := make([]byte, rapid.IntRange(0, 100).Draw(t, "payload"))
		input := manySpecs(t, rapid.IntRange(0, 5).Draw(t, "n"), rapid.IntRange(0, 4).Draw(t, "watches"), payload)
		got := decodedBytes(inputs, input, math.MaxUint64)
		require.LessOrEqual(t, got, uint64(len(input)))
		require.Greater(t, got+32*50, uint64(len(input)), "but for the padding")
	})

	// 100 specs that all name the place of one, whose payload is as long as the rest.
	input := manySpecs(t, 1, 1, make([]byte, 20_000))
	list, _ := wordAt(input, 0)
	long := append(slices.Clone(input[:list]), common.BigToHash(big.NewInt(100)).Bytes()...)
	for range 100 {
		long = append(long, common.BigToHash(big.NewInt(32*100)).Bytes()...)
	}
	long = append(long, input[list+64:]...)
	_, err := inputs.Unpack(long)
	require.NoError(t, err)
	require.Greater(t, decodedBytes(inputs, long, math.MaxUint64), uint64(100*20_000))
	require.Less(t, decodedBytes(inputs, long, 50_000), uint64(50_000+20_100))
}

// TestDecodedBytes_TakesAnyInput: nothing that is malformed makes it panic, and it ends soon above its bound.
func TestDecodedBytes_TakesAnyInput(t *testing.T) {
	inputs := ABI.Methods["scheduleBatch"].Inputs
	rapid.Check(t, func(t *rapid.T) {
		input := manySpecs(t, rapid.IntRange(0, 4).Draw(t, "n"), 2, []byte{1, 2, 3})
		for range rapid.IntRange(1, 9).Draw(t, "changes") {
			at := rapid.IntRange(0, len(input)-1).Draw(t, "at")
			input[at] = rapid.SampledFrom([]byte{0, 1, 31, 32, 64, 127, 128, 255}).Draw(t, "byte")
		}
		input = input[:rapid.IntRange(0, len(input)).Draw(t, "length")]
		most := rapid.Uint64Range(0, 100_000).Draw(t, "most")
		require.LessOrEqual(t, decodedBytes(inputs, input, most), most+uint64(len(input))+32*20)
		_, err := inputs.Unpack(input)
		if err == nil {
			require.Positive(t, decodedBytes(inputs, input, math.MaxUint64))
		}
	})
}
