package state

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// draw fills each field of a message with any value, so that a field which is added later is drawn as well.
func draw(t *rapid.T, message reflect.Value) {
	for i := range message.NumField() {
		field, name := message.Field(i), message.Type().Field(i).Name
		switch value := field.Addr().Interface().(type) {
		case *math.Int:
			*value = drawInt(t, name)
		case **math.Int:
			if rapid.Bool().Draw(t, name) {
				amount := drawInt(t, name)
				*value = &amount
			}
		case *[]types.WatchedKey:
			for range rapid.IntRange(0, 2).Draw(t, name) {
				var key types.WatchedKey
				draw(t, reflect.ValueOf(&key).Elem())
				*value = append(*value, key)
			}
		case *[]byte:
			*value = rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(t, name)
		case *string:
			*value = rapid.String().Draw(t, name)
		case *bool:
			*value = rapid.Bool().Draw(t, name)
		case *uint32:
			*value = rapid.OneOf(rapid.Just(uint32(0)), rapid.Uint32Range(0, 1<<31)).Draw(t, name)
		case *uint64:
			*value = rapid.OneOf(rapid.Just(uint64(0)), rapid.Uint64()).Draw(t, name)
		default:
			t.Fatalf("a field %s of type %T", name, value)
		}
	}
}

func drawInt(t *rapid.T, name string) math.Int {
	if rapid.Bool().Draw(t, name+" is absent or none") {
		return rapid.SampledFrom([]math.Int{{}, math.ZeroInt()}).Draw(t, name)
	}
	return math.NewIntFromUint64(rapid.Uint64().Draw(t, name)).MulRaw(rapid.SampledFrom([]int64{1, 1 << 40}).Draw(t, "times"))
}

// small draws a receipt, with watched keys of a few bytes.
func small(t *rapid.T) (receipt types.Receipt) {
	draw(t, reflect.ValueOf(&receipt).Elem())
	return receipt
}

func TestSegment_AsProtobufWritesIt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		segment := types.HeightReceipts{Height: rapid.Uint64().Draw(t, "height")}
		for range rapid.IntRange(0, 3).Draw(t, "receipts") {
			segment.Receipts = append(segment.Receipts, small(t))
		}
		want, err := segment.Marshal()
		require.NoError(t, err)
		got, n, err := encodeReceipts(segment.Height, segment.Receipts)
		require.NoError(t, err)
		require.Equal(t, len(segment.Receipts), n)
		require.Equal(t, want, got)
	})
}

// Receipts of any size come back in their order, whole but for watched keys beyond MatchedBytes, which are counted; and no
// segment is larger than a proof may hold.
//
// Rule: 1.10-matched-keys-of-receipt
func TestSegment_BoundedWhateverItHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var receipts []types.Receipt
		for range rapid.IntRange(1, 9).Draw(t, "receipts") {
			receipt := small(t)
			keys := rapid.SampledFrom([]int{0, 0, 1, 16, int(market.MaxMatchedKeys)}).Draw(t, "keys")
			bytes := rapid.SampledFrom([]int{0, 1, 100, 255, MatchedBytes - 30, MatchedBytes, 1 << 17}).Draw(t, "bytes")
			for range min(keys, 1<<20/(bytes+1)) {
				receipt.Matched = append(receipt.Matched, types.WatchedKey{Store: "wasm", Key: make([]byte, bytes)})
			}
			receipts = append(receipts, receipt)
		}
		for rest := receipts; len(rest) > 0; {
			value, n, err := encodeReceipts(5, rest)
			require.NoError(t, err)
			require.Positive(t, n)
			require.LessOrEqual(t, len(value), MaxReceiptSegmentBytes)
			var segment types.HeightReceipts
			require.NoError(t, segment.Unmarshal(value))
			require.Equal(t, uint64(5), segment.Height)
			require.Len(t, segment.Receipts, n)
			for i := range segment.Receipts {
				got, want := segment.Receipts[i], rest[i]
				kept := 0
				for _, key := range got.Matched {
					kept += key.Size() + 5
				}
				left := want.Matched[len(got.Matched):]
				if len(left) > 0 {
					require.Greater(t, kept+left[0].Size()+5, MatchedBytes, "no more would fit")
				}
				require.LessOrEqual(t, kept, MatchedBytes)
				require.Equal(t, want.MatchedOmitted+uint32(len(left)), got.MatchedOmitted)
				want.Matched, want.MatchedOmitted = want.Matched[:len(got.Matched)], got.MatchedOmitted
				require.Equal(t, want.String(), got.String())
			}
			rest = rest[n:]
		}
	})
}
