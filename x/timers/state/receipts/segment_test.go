package receipts

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"cosmossdk.io/math"

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
			*value = rapid.OneOf(rapid.Just(uint32(0)), rapid.Uint32()).Draw(t, name)
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

func TestSegmentsAreWrittenAsProtobuf(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		segment := types.HeightReceipts{Height: rapid.Uint64().Draw(t, "height")}
		for range rapid.IntRange(0, 3).Draw(t, "receipts") {
			var receipt types.Receipt
			draw(t, reflect.ValueOf(&receipt).Elem())
			segment.Receipts = append(segment.Receipts, receipt)
		}
		want, err := segment.Marshal()
		require.NoError(t, err)
		got, err := segmentCodec{}.Encode(segment)
		require.NoError(t, err)
		require.Equal(t, want, got)
	})
}
