package types

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"cosmossdk.io/core/address"

	bech32 "github.com/cosmos/cosmos-sdk/codec/address"
	sdk "github.com/cosmos/cosmos-sdk/types"
	sdkerrors "github.com/cosmos/cosmos-sdk/types/errors"
)

// counting counts how often it encodes and decodes, and refuses an address of one byte.
type counting struct {
	address.Codec
	encoded, decoded int
}

func (c *counting) StringToBytes(text string) ([]byte, error) {
	c.decoded++
	return c.Codec.StringToBytes(text)
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
	for n := range remembered + 1 {
		text(n)
	}
	require.Equal(t, remembered+1, codec.encoded)
	text(0)
	require.Equal(t, remembered+2, codec.encoded)
	for range 2 {
		require.Equal(t, hex.EncodeToString([]byte{7}), addresses.Text([]byte{7}))
	}
}

// TestAddressesAreRemembered: a text is decoded once, whatever its reader does to the address, and one that is refused is
// refused again.
func TestAddressesAreRemembered(t *testing.T) {
	codec := &counting{Codec: bech32.NewBech32Codec("cosmos")}
	addresses := NewAddresses(codec)
	want := sdk.AccAddress("an address of 20 byt")
	for range 3 {
		got, err := addresses.Parse("sender", addresses.Text(want))
		require.NoError(t, err)
		require.Equal(t, want, got)
		got[0]++
	}
	require.Equal(t, 1, codec.decoded)
	for range 2 {
		_, err := addresses.Parse("sender", addresses.Text(want)[1:])
		require.ErrorIs(t, err, sdkerrors.ErrInvalidAddress)
		require.ErrorContains(t, err, "sender")
	}
	require.Equal(t, 3, codec.decoded)
}
