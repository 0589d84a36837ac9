package watch

import (
	"cosmossdk.io/core/address"

	sdk "github.com/cosmos/cosmos-sdk/types"
	addresstypes "github.com/cosmos/cosmos-sdk/types/address"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"
)

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
		return nil, err
	}
	part, err := addresstypes.LengthPrefix(addr)
	if err != nil {
		return nil, err
	}
	return append(key[:len(key):len(key)], part...), nil
}

// denomPart appends a denom as the last part of a key.
func denomPart(key []byte, denom string) ([]byte, error) {
	if err := sdk.ValidateDenom(denom); err != nil {
		return nil, err
	}
	return append(key[:len(key):len(key)], denom...), nil
}
