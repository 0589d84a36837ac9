package types

import (
	"encoding/hex"
	"strings"

	lru "github.com/hashicorp/golang-lru/v2"

	"cosmossdk.io/core/address"

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
		return nil, sdkerrors.ErrInvalidAddress.Wrapf("%s %.120q is no address of this chain", field, text)
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

// ParseID reads a whole id: 64 hexadecimal digits.
func ParseID(s string) ([]byte, error) {
	id, err := hex.DecodeString(s[:min(len(s), 2*IDBytes)])
	if err != nil || len(s) != 2*IDBytes {
		return nil, ErrInvalidTimerID.Wrapf("%.80q has %d digits, want %d, hexadecimal ones", s, len(s), 2*IDBytes)
	}
	return id, nil
}

// ParseIDPrefix reads the beginning of an id, 1 to 64 hexadecimal digits, and returns it in lower case.
func ParseIDPrefix(s string) (string, error) {
	if len(s) == 0 || len(s) > 2*IDBytes {
		return "", ErrInvalidTimerID.Wrapf("%.80q has %d digits, want 1 to %d", s, len(s), 2*IDBytes)
	}
	lower := strings.ToLower(s)
	if strings.Trim(lower, "0123456789abcdef") != "" {
		return "", ErrInvalidTimerID.Wrapf("%.80q: want hexadecimal digits", s)
	}
	return lower, nil
}

// MaxNameBytes bounds a name.
const MaxNameBytes = 64

// CheckName returns ErrInvalidName unless a timer's name is empty, or at most MaxNameBytes of printable ASCII with a character that
// is no hexadecimal digit, so that no name is the beginning of an id, no slash, and no space at its ends (x/timers/README.md, "1.2
// Timer"). Lists show the names of strangers: other scripts have invisible characters, characters that turn the direction of what
// follows, and characters that look like others.
func CheckName(name string) error {
	if len(name) > MaxNameBytes {
		return ErrInvalidName.Wrapf("%d bytes, want at most %d", len(name), MaxNameBytes)
	}
	for i := range len(name) {
		switch c := name[i]; {
		case c < ' ' || c > '~':
			return ErrInvalidName.Wrapf("byte %d is 0x%02x, want printable ASCII: space to tilde", i, c)
		case c == '/':
			return ErrInvalidName.Wrapf("byte %d of %q is a slash, which stands between an actor and a name: leave it out", i, name)
		}
	}
	switch {
	case strings.TrimSpace(name) != name:
		return ErrInvalidName.Wrapf("%q has a space at an end: leave it out", name)
	case name != "" && strings.Trim(name, "0123456789abcdefABCDEF") == "":
		return ErrInvalidName.Wrapf("%q could be the beginning of an id: want a character that is no hexadecimal digit", name)
	}
	return nil
}
