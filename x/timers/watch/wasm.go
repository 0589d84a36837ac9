package watch

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"cosmossdk.io/core/address"

	"github.com/cosmos-timers/timers/x/timers/watch/condition"
)

// The layout of x/wasm's store, repeated here because the module does not import x/wasm: a region's first byte, then
// the contract's address, of 32 bytes and without its length.
const (
	wasmInfo      = 0x02
	wasmStorage   = 0x03
	wasmTxCounter = 0x08

	contractAddressBytes = 32
	// hexMark begins a contract's key that is written in hexadecimal.
	hexMark = "0x"
)

// Wasm is x/wasm's store: the storage of contracts, and which code and admin a contract has.
func Wasm(addresses address.Codec) Store {
	contract := func(region byte) func([]string) ([]byte, error) {
		return func(arguments []string) ([]byte, error) { return contractPart(addresses, region, arguments[0]) }
	}
	return Store{
		Name:  "wasm",
		Whole: wholeWasmKey,
		Reading: func(key []byte) Reading {
			if contractStorage(key) == 0 {
				return Reading{}
			}
			return Reading{Number: condition.JSONNumber, Bytes: true}
		},
		Forms: []Form{
			{
				Name: "contract", Arguments: []string{"ADDRESS"}, Watches: "all that a contract stores",
				Length: contractStorage, Build: contract(wasmStorage),
			},
			{
				Name: "key", Arguments: []string{"ADDRESS", "KEY"},
				Watches: "one key of a contract's storage: the key's text, or 0x and its bytes in hexadecimal",
				Build: func(arguments []string) ([]byte, error) {
					prefix, err := contractPart(addresses, wasmStorage, arguments[0])
					if err != nil {
						return nil, err
					}
					key, err := contractKey(arguments[1])
					return append(prefix, key...), err
				},
			},
			{
				Name: "info", Arguments: []string{"ADDRESS"}, Watches: "which code, admin and label a contract has",
				Build: contract(wasmInfo),
			},
		},
	}
}

// contractPart is a region and a contract in it.
func contractPart(addresses address.Codec, region byte, text string) ([]byte, error) {
	addr, err := addresses.StringToBytes(text)
	if err != nil {
		return nil, err
	}
	if len(addr) != contractAddressBytes {
		return nil, fmt.Errorf("%s has %d bytes, a contract's address has %d", text, len(addr), contractAddressBytes)
	}
	return append([]byte{region}, addr...), nil
}

// contractKey reads a key of a contract's storage, which has at least one byte. One whose text begins with 0x is
// written in hexadecimal.
func contractKey(text string) ([]byte, error) {
	digits, isHex := strings.CutPrefix(text, hexMark)
	key := []byte(text)
	if isHex {
		var err error
		if key, err = hex.DecodeString(digits); err != nil {
			return nil, fmt.Errorf("key %.80q: %w", text, err)
		}
	}
	if len(key) == 0 {
		return nil, errors.New("the key is empty")
	}
	return key, nil
}

// contractStorage returns the length of the prefix of a key that names the contract in whose storage it is, 0 if it is
// in no contract's storage.
func contractStorage(key []byte) int {
	if len(key) <= contractAddressBytes || key[0] != wasmStorage {
		return 0
	}
	return 1 + contractAddressBytes
}

// wholeWasmKey reports whether bytes may be a whole key of x/wasm's store. The counter of a block's transactions is
// excluded, because the ante handler writes it and not the keeper.
func wholeWasmKey(key []byte) bool {
	switch {
	case len(key) == 0 || key[0] == wasmTxCounter:
		return false
	case key[0] == wasmStorage:
		return len(key) > 1+contractAddressBytes
	case key[0] == wasmInfo:
		return len(key) == 1+contractAddressBytes
	}
	return true
}
