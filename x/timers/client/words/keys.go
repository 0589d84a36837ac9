package words

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"cosmossdk.io/core/address"

	sdk "github.com/cosmos/cosmos-sdk/types"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"
	stakingtypes "github.com/cosmos/cosmos-sdk/x/staking/types"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// wasmStorage and wasmInfo are the regions of x/wasm's store that have forms; a contract's address follows the byte.
const (
	wasmInfo             = 0x02
	wasmStorage          = 0x03
	contractAddressBytes = 32
)

// Keys writes watched keys in the forms of package watch/stores, such as bank:balance:ADDRESS:DENOM.
type Keys struct {
	Accounts, Validators address.Codec
}

// Text returns the text form of a key, or STORE:HEX for a key that no form has.
func (k Keys) Text(key types.WatchKey) string {
	var text string
	switch key.Store {
	case banktypes.StoreKey:
		text = k.bank(key.Prefix)
	case stakingtypes.StoreKey:
		text = k.staking(key.Prefix)
	case "wasm":
		text = k.wasm(key.Prefix)
	}
	if text == "" {
		return fmt.Sprintf("%s:%x", key.Store, key.Prefix)
	}
	return key.Store + ":" + text
}

// Watched says what makes a watch due, as the function Watched does, with the addresses in its keys as who writes them.
func (k Keys) Watched(keys []types.WatchKey, who func(address string) string) string {
	return Watched(keys, k.texts(keys, who))
}

// OnlyIf says what must hold when a timer fires, in the same way.
func (k Keys) OnlyIf(keys []types.WatchKey, who func(address string) string) string {
	return OnlyIf(keys, k.texts(keys, who))
}

func (k Keys) texts(keys []types.WatchKey, who func(address string) string) []string {
	texts := make([]string, len(keys))
	for i := range keys {
		parts := strings.Split(k.Text(keys[i]), ":")
		for at, part := range parts {
			if _, err := k.Accounts.StringToBytes(part); err == nil {
				parts[at] = who(part)
			}
		}
		texts[i] = strings.Join(parts, ":")
	}
	return texts
}

func (k Keys) bank(key []byte) string {
	if denom, ok := bytes.CutPrefix(key, banktypes.SupplyKey.Bytes()); ok && isDenom(denom) {
		return "supply:" + string(denom)
	}
	rest, ok := bytes.CutPrefix(key, banktypes.BalancesPrefix.Bytes())
	if !ok {
		return ""
	}
	owner, denom := part(k.Accounts, rest)
	switch {
	case owner == "":
		return ""
	case len(denom) == 0:
		return "balances:" + owner
	case isDenom(denom):
		return "balance:" + owner + ":" + string(denom)
	}
	return ""
}

func isDenom(denom []byte) bool { return sdk.ValidateDenom(string(denom)) == nil }

func (k Keys) staking(key []byte) string {
	if rest, ok := bytes.CutPrefix(key, stakingtypes.ValidatorsKey); ok {
		return whole("validator:", k.Validators, rest)
	}
	if rest, ok := bytes.CutPrefix(key, stakingtypes.UnbondingDelegationKey); ok {
		return whole("unbondings:", k.Accounts, rest)
	}
	rest, ok := bytes.CutPrefix(key, stakingtypes.DelegationKey)
	if !ok {
		return ""
	}
	delegator, rest := part(k.Accounts, rest)
	switch {
	case delegator == "":
		return ""
	case len(rest) == 0:
		return "delegations:" + delegator
	}
	return whole("delegation:"+delegator+":", k.Validators, rest)
}

func (k Keys) wasm(key []byte) string {
	if len(key) <= contractAddressBytes || key[0] != wasmStorage && key[0] != wasmInfo {
		return ""
	}
	contract, err := k.Accounts.BytesToString(key[1 : 1+contractAddressBytes])
	rest := key[1+contractAddressBytes:]
	switch {
	case err != nil:
		return ""
	case key[0] == wasmInfo && len(rest) == 0:
		return "info:" + contract
	case key[0] == wasmInfo:
		return ""
	case len(rest) == 0:
		return "contract:" + contract
	case isText(rest):
		return "key:" + contract + ":" + string(rest)
	}
	return fmt.Sprintf("key:%s:0x%x", contract, rest)
}

// isText reports whether a contract's key can be written as text: what 0x begins is read as hexadecimal.
func isText(key []byte) bool {
	text := string(key)
	return utf8.ValidString(text) && !strings.HasPrefix(text, "0x") &&
		!strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) })
}

// part reads an address that follows a byte for its length, and returns it with what follows; "" if there is none.
func part(codec address.Codec, key []byte) (text string, rest []byte) {
	if len(key) == 0 || key[0] == 0 || len(key) < 1+int(key[0]) {
		return "", nil
	}
	end := 1 + int(key[0])
	text, err := codec.BytesToString(key[1:end])
	if err != nil {
		return "", nil
	}
	return text, key[end:]
}

// whole is a form whose last part is an address; "" if the key continues, or has none.
func whole(form string, codec address.Codec, key []byte) string {
	text, rest := part(codec, key)
	if text == "" || len(rest) > 0 {
		return ""
	}
	return form + text
}
