package names

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"cosmossdk.io/core/address"

	bech32 "github.com/cosmos/cosmos-sdk/codec/address"
	sdk "github.com/cosmos/cosmos-sdk/types"
)

// counting counts how often it encodes, and refuses an address of one byte.
type counting struct {
	address.Codec
	encoded int
}

func (c *counting) BytesToString(bz []byte) (string, error) {
	c.encoded++
	if len(bz) == 1 {
		return "", errors.New("too short")
	}
	return c.Codec.BytesToString(bz)
}

// TestTextsAreRemembered: a text is encoded once while few are asked for, and stays right with more than are remembered.
func TestTextsAreRemembered(t *testing.T) {
	codec := &counting{Codec: bech32.NewBech32Codec("cosmos")}
	addresses := NewAddresses(codec)
	number := func(n int) sdk.AccAddress { return binary.BigEndian.AppendUint64(make([]byte, 12), uint64(n)) }
	text := func(n int) {
		want, err := codec.Codec.BytesToString(number(n))
		require.NoError(t, err)
		require.Equal(t, want, addresses.Text(number(n)))
	}
	text(0)
	text(0)
	require.Equal(t, 1, codec.encoded)
	for n := range rememberedTexts + 1 {
		text(n)
	}
	require.Equal(t, rememberedTexts+1, codec.encoded)
	text(0)
	require.Equal(t, rememberedTexts+2, codec.encoded)
	for range 2 {
		require.Equal(t, hex.EncodeToString([]byte{7}), addresses.Text([]byte{7}))
	}
}
