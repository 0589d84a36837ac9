package watch

import (
	"cosmossdk.io/core/address"

	stakingtypes "github.com/cosmos/cosmos-sdk/x/staking/types"
)

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
