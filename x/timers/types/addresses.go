package types

import (
	"encoding/hex"

	lru "github.com/hashicorp/golang-lru/v2"

	"cosmossdk.io/core/address"
	errorsmod "cosmossdk.io/errors"

	sdk "github.com/cosmos/cosmos-sdk/types"
	sdkerrors "github.com/cosmos/cosmos-sdk/types/errors"
)

// remembered bounds the addresses of which the text, and the texts of which the address, is remembered: the same actors
// schedule and fire again and again.
const remembered = 8_192

// Addresses reads and writes addresses as messages, events and queries show them. They are safe for concurrent use.
type Addresses struct {
	address.Codec
	texts, parsed *lru.Cache[string, string]
}

// NewAddresses returns those of a codec.
func NewAddresses(of address.Codec) Addresses {
	return Addresses{of, newMemory(), newMemory()}
}

func newMemory() *lru.Cache[string, string] {
	memory, err := lru.New[string, string](remembered)
	if err != nil {
		panic(err) // The bound is not positive.
	}
	return memory
}

// Text is the bech32 form of an address. The codec refuses only an empty address, which no timer has.
func (a Addresses) Text(addr sdk.AccAddress) string {
	key := string(addr)
	if text, known := a.texts.Get(key); known {
		return text
	}
	text, err := a.BytesToString(addr)
	if err != nil {
		text = hex.EncodeToString(addr)
	}
	a.texts.Add(key, text)
	return text
}

// Parse reads the address in a field of a message or a query.
func (a Addresses) Parse(field, text string) (sdk.AccAddress, error) {
	if len(text) > MaxTextBytes {
		return nil, sdkerrors.ErrInvalidAddress.Wrapf("%s %.120q is %d bytes long, want at most %d", field, text, len(text), MaxTextBytes)
	}
	if addr, known := a.parsed.Get(text); known {
		return sdk.AccAddress(addr), nil
	}
	addr, err := a.StringToBytes(text)
	if err != nil {
		return nil, errorsmod.Wrapf(sdkerrors.ErrInvalidAddress, "%s %.120q: %.200v", field, text, err)
	}
	a.parsed.Add(text, string(addr))
	return addr, nil
}

// ParseName reads how messages name a timer: its actor and its whole id.
func (a Addresses) ParseName(field, actor, id string) (sdk.AccAddress, []byte, error) {
	addr, err := a.Parse(field, actor)
	if err != nil {
		return nil, nil, err
	}
	parsed, err := ParseID(id)
	return addr, parsed, err
}
