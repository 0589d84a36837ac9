package state

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"cosmossdk.io/collections"
	"cosmossdk.io/collections/codec"
)

// counting counts how often it decodes.
type counting struct {
	codec.ValueCodec[string]
	decoded int
}

func (c *counting) Decode(bz []byte) (string, error) {
	c.decoded++
	if len(bz) == 0 {
		return "", errors.New("nothing")
	}
	return c.ValueCodec.Decode(bz)
}

func TestAMemoDecodesWhatIsNew(t *testing.T) {
	below := &counting{ValueCodec: collections.StringValue}
	m := newMemo[string](below)
	decode := func(bz []byte, want string, times int) {
		t.Helper()
		value, err := m.Decode(bz)
		require.Equal(t, want == "", err != nil)
		require.Equal(t, want, value)
		require.Equal(t, times, below.decoded)
	}
	bz := []byte("one")
	decode(bz, "one", 1)
	decode([]byte("one"), "one", 1)
	// The bytes are the store's, which may use them again.
	bz[0] = 'x'
	decode([]byte("one"), "one", 1)
	decode([]byte("two"), "two", 2)
	decode(nil, "", 3)
	decode([]byte("two"), "two", 3)
	decode([]byte("one"), "one", 4)
}
