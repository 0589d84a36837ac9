package watch

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"cosmossdk.io/core/address"

	sdk "github.com/cosmos/cosmos-sdk/types"
	addresstypes "github.com/cosmos/cosmos-sdk/types/address"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"
	stakingtypes "github.com/cosmos/cosmos-sdk/x/staking/types"

	"github.com/cosmos-timers/timers/x/timers/watch/condition"
)

// region is a part of a store whose keys share a first byte and a layout: that byte, so many parts that begin with a
// byte for their length, and then, if it is open, at least one byte more.
type region struct {
	first byte
	parts int
	open  bool
}

// prefixOf returns the length of the prefix of a key that consists of the first byte and so many length-prefixed parts.
// It is 0 for a key with another first byte, and for a shorter one.
func prefixOf(first byte, parts int) func(key []byte) int {
	return func(key []byte) int {
		if len(key) == 0 || key[0] != first {
			return 0
		}
		end := 1
		for range parts {
			if end >= len(key) {
				return 0
			}
			end += 1 + int(key[end])
		}
		if end > len(key) {
			return 0
		}
		return end
	}
}

// wholeOf reports whether bytes may be a whole key of a store with these regions. Keys of other regions are accepted.
func wholeOf(regions ...region) func(key []byte) bool {
	return func(key []byte) bool {
		for _, r := range regions {
			if len(key) == 0 || key[0] != r.first {
				continue
			}
			end := prefixOf(r.first, r.parts)(key)
			return end > 0 && (end < len(key)) == r.open
		}
		return true
	}
}

// Bank is x/bank's store: balances of an address, and the supply of a denom.
func Bank(addresses address.Codec) Store {
	balances, supply := banktypes.BalancesPrefix.Bytes(), banktypes.SupplyKey.Bytes()
	return Store{
		Name: banktypes.StoreKey,
		Whole: wholeOf(
			region{first: supply[0], open: true},
			region{first: banktypes.DenomMetadataPrefix.Bytes()[0], open: true},
			region{first: balances[0], parts: 1, open: true},
			region{first: banktypes.DenomAddressPrefix.Bytes()[0], open: true},
			region{first: banktypes.SendEnabledPrefix.Bytes()[0], open: true},
			region{first: banktypes.ParamsKey.Bytes()[0]},
		),
		Reading: func(key []byte) Reading {
			switch key[0] {
			case balances[0], supply[0]:
				return Reading{Number: amount}
			default:
				return Reading{}
			}
		},
		Forms: []Form{
			{
				Name: "balances", Arguments: []string{"ADDRESS"}, Watches: "all balances of an address",
				Length: prefixOf(balances[0], 1),
				Build: func(arguments []string) ([]byte, error) {
					return accountPart(addresses, balances, arguments[0])
				},
			},
			{
				Name: "balance", Arguments: []string{"ADDRESS", "DENOM"}, Watches: "the balance of an address in one denom",
				Build: func(arguments []string) ([]byte, error) {
					key, err := accountPart(addresses, balances, arguments[0])
					if err != nil {
						return nil, err
					}
					return denomPart(key, arguments[1])
				},
			},
			{
				Name: "supply", Arguments: []string{"DENOM"}, Watches: "the supply of a denom",
				Build: func(arguments []string) ([]byte, error) { return denomPart(supply, arguments[0]) },
			},
		},
	}
}

// amount reads a balance or a supply. One that is not there is 0: the bank removes entries of nothing.
func amount(value []byte) (string, bool) {
	if value == nil {
		return "0", true
	}
	n, err := banktypes.BalanceValueCodec.Decode(value)
	if err != nil || n.IsNil() {
		return "", false
	}
	return n.String(), true
}

// accountPart appends an address as a part of a key that begins with its length.
func accountPart(addresses address.Codec, key []byte, text string) ([]byte, error) {
	addr, err := addresses.StringToBytes(text)
	if err != nil {
		return nil, fmt.Errorf("%.80q is no address of this chain", text)
	}
	part, err := addresstypes.LengthPrefix(addr)
	if err != nil {
		return nil, err
	}
	return append(key[:len(key):len(key)], part...), nil
}

// denomPart appends a denom as the last part of a key.
func denomPart(key []byte, denom string) ([]byte, error) {
	if sdk.ValidateDenom(denom) != nil {
		return nil, fmt.Errorf("%.80q is an invalid denom", denom)
	}
	return append(key[:len(key):len(key)], denom...), nil
}

// Staking is x/staking's store: validators, delegations and what unbonds.
func Staking(addresses, validators address.Codec) Store {
	validator, delegation, unbonding := stakingtypes.ValidatorsKey, stakingtypes.DelegationKey, stakingtypes.UnbondingDelegationKey
	delegator := func(key []byte) func([]string) ([]byte, error) {
		return func(arguments []string) ([]byte, error) { return accountPart(addresses, key, arguments[0]) }
	}
	return Store{
		Name: stakingtypes.StoreKey,
		Whole: wholeOf(
			region{first: validator[0], parts: 1},
			region{first: delegation[0], parts: 2},
			region{first: unbonding[0], parts: 2},
			region{first: stakingtypes.RedelegationKey[0], parts: 3},
			region{first: stakingtypes.LastTotalPowerKey[0]},
			region{first: stakingtypes.ParamsKey[0]},
		),
		Reading: func(key []byte) Reading {
			switch key[0] {
			case validator[0]:
				return Reading{Number: tokens}
			case delegation[0]:
				return Reading{Number: shares}
			default:
				return Reading{}
			}
		},
		Forms: []Form{
			{
				Name: "validator", Arguments: []string{"VALIDATOR"}, Watches: "a validator: tokens, status, commission, description",
				Build: func(arguments []string) ([]byte, error) { return accountPart(validators, validator, arguments[0]) },
			},
			{
				Name: "delegations", Arguments: []string{"ADDRESS"}, Watches: "all delegations of an address",
				Length: prefixOf(delegation[0], 1), Build: delegator(delegation),
			},
			{
				Name: "delegation", Arguments: []string{"ADDRESS", "VALIDATOR"}, Watches: "the delegation of an address to a validator",
				Build: func(arguments []string) ([]byte, error) {
					key, err := accountPart(addresses, delegation, arguments[0])
					if err != nil {
						return nil, err
					}
					return accountPart(validators, key, arguments[1])
				},
			},
			{
				Name: "unbondings", Arguments: []string{"ADDRESS"}, Watches: "what an address unbonds",
				Length: prefixOf(unbonding[0], 1), Build: delegator(unbonding),
			},
		},
	}
}

// tokens reads what is bonded or unbonding with a validator, 0 if there is no such validator.
func tokens(value []byte) (string, bool) {
	var v stakingtypes.Validator
	if value == nil {
		return "0", true
	}
	if err := v.Unmarshal(value); err != nil || v.Tokens.IsNil() {
		return "", false
	}
	return v.Tokens.String(), true
}

// shares reads how many shares of its validator a delegation has, 0 if there is no such delegation.
func shares(value []byte) (string, bool) {
	var d stakingtypes.Delegation
	if value == nil {
		return "0", true
	}
	if err := d.Unmarshal(value); err != nil || d.Shares.IsNil() {
		return "", false
	}
	return d.Shares.String(), true
}

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
		return nil, fmt.Errorf("%.80q is no address of this chain", text)
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
			return nil, fmt.Errorf("key %.80q: %s", text, err.Error())
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
