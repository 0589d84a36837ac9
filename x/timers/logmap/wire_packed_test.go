package logmap_test

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cosmos-timers/timers/x/timers/logmap"
)

// What was appended is read; of what is cut off anywhere nothing is read as if it were whole.
func packedProperty(t *rapid.T) {
	number, signed := rapid.Uint64().Draw(t, "number"), rapid.Int64().Draw(t, "signed")
	bytes, list := rapid.SliceOf(rapid.Byte()).Draw(t, "bytes"), rapid.SliceOf(rapid.Byte()).Draw(t, "list")
	bz := binary.AppendUvarint(nil, number)
	bz = binary.AppendVarint(bz, signed)
	bz = binary.AppendUvarint(bz, uint64(len(bytes)))
	bz = append(bz, bytes...)
	bz = binary.AppendUvarint(bz, uint64(len(list)))
	bz = append(bz, list...)

	read := func(bz []byte) logmap.Unpacker {
		r := logmap.NewUnpacker(bz)
		readNumber, readSigned, readBytes := r.Uvarint(), r.Varint(), r.Bytes(r.Uvarint())
		readList := make([]byte, r.Len())
		for i := range readList {
			readList[i] = r.Bytes(1)[0]
		}
		if !r.Failed() {
			require.Equal(t, number, readNumber)
			require.Equal(t, signed, readSigned)
			require.Equal(t, string(bytes), string(readBytes))
			require.Equal(t, string(list), string(readList))
		}
		return r
	}
	whole := read(bz)
	require.False(t, whole.Failed())
	require.False(t, whole.More())
	cut := read(bz[:rapid.IntRange(0, len(bz)-1).Draw(t, "cut")])
	require.True(t, cut.Failed())
	require.False(t, cut.More(), "a loop over the rest ends")
	longer := read(append(bz, 0))
	require.True(t, longer.More())
}

func TestPacked(t *testing.T) { rapid.Check(t, packedProperty) }

func FuzzPacked(f *testing.F) { f.Fuzz(rapid.MakeFuzz(packedProperty)) }

// A length that no list can have allocates nothing.
func TestALengthIsBoundedByWhatIsThere(t *testing.T) {
	r := logmap.NewUnpacker(binary.AppendUvarint(nil, 1<<62))
	require.Zero(t, r.Len())
	require.True(t, r.Failed())
	require.Zero(t, r.Uvarint())
	require.Nil(t, r.Bytes(1))
}
