package watch_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cosmossdk.io/collections"
	"cosmossdk.io/math"
	storetypes "cosmossdk.io/store/types"

	"github.com/cosmos/cosmos-sdk/codec/address"
	"github.com/cosmos/cosmos-sdk/crypto/keys/ed25519"
	"github.com/cosmos/cosmos-sdk/runtime"
	sdk "github.com/cosmos/cosmos-sdk/types"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"
	stakingtypes "github.com/cosmos/cosmos-sdk/x/staking/types"

	"github.com/cosmos-timers/timers/x/timers/types"
	"github.com/cosmos-timers/timers/x/timers/watch"
)

var (
	accounts   = address.NewBech32Codec("cosmos")
	validators = address.NewBech32Codec("cosmosvaloper")
	person     = sdk.AccAddress("a person of 20 bytes")
	contract   = sdk.AccAddress("a contract has addresses of 32 b")
	// storage is where x/wasm keeps what the contract stores; the app's tests hold it to x/wasm's own keys.
	storage   = append([]byte{3}, contract...)
	validator = sdk.ValAddress("a validator's 20 byte")
)

func newWatcher() *watch.Watcher {
	w := watch.New(storetypes.NewKVStoreKey("timers"))
	for _, declared := range []watch.Store{watch.Bank(accounts), watch.Staking(accounts, validators), watch.Wasm(accounts)} {
		w.Service(runtime.NewKVStoreService(storetypes.NewKVStoreKey(declared.Name)), declared)
	}
	return w
}

// balance is the key that bank's own collection has.
func balance(t *testing.T, owner sdk.AccAddress, denom string) []byte {
	t.Helper()
	key, err := collections.EncodeKeyWithPrefix(banktypes.BalancesPrefix,
		collections.PairKeyCodec(sdk.AccAddressKey, collections.StringKey), collections.Join(owner, denom))
	require.NoError(t, err)
	return key
}

// Rule: 1.10-key-forms
func TestFormsNameTheModulesOwnKeys(t *testing.T) {
	w := newWatcher()
	operator, err := validators.BytesToString(validator)
	require.NoError(t, err)
	for text, want := range map[string][]byte{
		"bank:balance:" + person.String() + ":stake":             balance(t, person, "stake"),
		"bank:balance:" + person.String() + ":ibc/A:b:c":         balance(t, person, "ibc/A:b:c"),
		"bank:balance:" + contract.String() + ":stake":           balance(t, contract, "stake"),
		"bank:balances:" + person.String():                       balance(t, person, ""),
		"bank:balances:" + contract.String():                     balance(t, contract, ""),
		"bank:supply:stake":                                      append(banktypes.SupplyKey.Bytes(), "stake"...),
		"staking:validator:" + operator:                          stakingtypes.GetValidatorKey(validator),
		"staking:delegations:" + person.String():                 stakingtypes.GetDelegationsKey(person),
		"staking:delegation:" + person.String() + ":" + operator: stakingtypes.GetDelegationKey(person, validator),
		"staking:unbondings:" + contract.String():                stakingtypes.GetUBDsKey(contract),
		"wasm:contract:" + contract.String():                     storage,
		"wasm:key:" + contract.String() + ":a:b":                 append(storage[:33:33], "a:b"...),
		"wasm:key:" + contract.String() + ":0x00ff":              append(storage[:33:33], 0, 255),
		"wasm:info:" + contract.String():                         append([]byte{2}, contract...),
	} {
		key, err := w.Parse(text)
		require.NoError(t, err, text)
		require.Equal(t, want, key.Prefix, text)
	}
}

func TestFormsAreWhatTheStoresAreAskedFor(t *testing.T) {
	operator, err := validators.BytesToString(validator)
	require.NoError(t, err)
	for text, says := range map[string]string{
		"bank:balance:nobody:stake":                     "want bank:balance:ADDRESS:DENOM",
		"bank:balance:" + operator + ":stake":           "want bank:balance:ADDRESS:DENOM",
		"bank:balance:" + person.String():               "want bank:balance:ADDRESS:DENOM",
		"bank:balance:" + person.String() + ":no denom": "invalid denom",
		"bank:balances":                                 "want bank:balances:ADDRESS",
		"bank:supply:":                                  "invalid denom",
		"staking:validator:" + person.String():          "want staking:validator:VALIDATOR",
		"staking:delegation:" + person.String():         "want staking:delegation:ADDRESS:VALIDATOR",
		"gov:00":                                        "watchable: bank, staking, wasm",
		"wasm:contract:" + person.String():              "has 20 bytes, a contract's address has 32",
		"wasm:contract:nobody":                          "want wasm:contract:ADDRESS",
		"wasm:key:" + contract.String():                 "want wasm:key:ADDRESS:KEY",
		"wasm:key:" + contract.String() + ":":           "the key is empty",
		"wasm:key:" + contract.String() + ":0x":         "the key is empty",
		"wasm:key:" + contract.String() + ":0x0":        "odd length",
	} {
		_, err := newWatcher().Parse(text)
		require.ErrorContains(t, err, says, text)
	}
}

// TestInvalidKeysAreRefused: a watch of a prefix that has no declared form and can't be a whole key would never be
// triggered.
//
// Rule: 1.10-key-forms
func TestInvalidKeysAreRefused(t *testing.T) {
	w := newWatcher()
	check := func(store string, prefix []byte) error { return w.Check(types.WatchKey{Store: store, Prefix: prefix}) }
	whole := map[string][][]byte{
		"bank": {
			balance(t, person, "stake"), balance(t, contract, "s"), balance(t, person, ""),
			{0, 'a'},
			{5},
			{1, 'a'},
			{4, 'b'},
			{3, 'a', 0, 1},
			{99},
			{99, 1},
		},
		"staking": {
			stakingtypes.GetValidatorKey(validator), stakingtypes.GetDelegationKey(person, validator), stakingtypes.GetDelegationsKey(person),
			stakingtypes.GetUBDKey(person, validator), stakingtypes.GetREDKey(person, validator, validator),
			{0x12},
			{0x51},
			stakingtypes.GetValidatorByConsAddrKey(sdk.ConsAddress(validator)),
		},
		"wasm": {storage, append(storage[:33:33], 0), append([]byte{2}, contract...), {1, 0, 0, 0, 0, 0, 0, 0, 1}, {0x10}},
	}
	for store, keys := range whole {
		for _, key := range keys {
			require.NoError(t, check(store, key), "%s %x", store, key)
		}
	}
	parts := map[string][][]byte{
		"bank":    {{0}, {1}, {2}, {3}, {4}, {5, 1}, {2, 20}, {2, 3, 1, 2}, balance(t, person, "")[:21]},
		"staking": {{0x21}, {0x31}, {0x31, 20}, {0x12, 1}, stakingtypes.GetValidatorKey(validator)[:10], append(stakingtypes.GetValidatorKey(validator), 1)},
		"wasm":    {{3}, storage[:32], {2}, append([]byte{2}, contract[:31]...), append([]byte{2, 2}, contract...), {8}},
	}
	for store, keys := range parts {
		for _, key := range keys {
			require.ErrorIs(t, check(store, key), types.ErrNotWatchable, "%s %x", store, key)
		}
	}
}

// TestHowConditionsReadValues: of each kind of key, as the module that owns it writes it.
//
// Rule: 1.10-value-reading, 1.10-other-values
func TestHowConditionsReadValues(t *testing.T) {
	read := func(declared watch.Store, key, value []byte) (number string, is bool) {
		reading := declared.Reading(key)
		if reading.Number == nil {
			return "", false
		}
		return reading.Number(value)
	}
	bank, staking, wasm := watch.Bank(accounts), watch.Staking(accounts, validators), watch.Wasm(accounts)
	coins, err := banktypes.BalanceValueCodec.Encode(math.NewInt(1_234_567))
	require.NoError(t, err)
	operator, err := validators.BytesToString(validator)
	require.NoError(t, err)
	v, err := stakingtypes.NewValidator(operator, ed25519.GenPrivKeyFromSecret([]byte("v")).PubKey(), stakingtypes.Description{Moniker: "m"})
	require.NoError(t, err)
	v.Tokens = math.NewInt(77)
	bonded, err := v.Marshal()
	require.NoError(t, err)
	d := stakingtypes.NewDelegation(person.String(), operator, math.LegacyNewDecWithPrec(15, 1))
	delegated, err := d.Marshal()
	require.NoError(t, err)
	supply := append(banktypes.SupplyKey.Bytes(), "stake"...)
	for name, c := range map[string]struct {
		store      watch.Store
		key, value []byte
		want       string
		is         bool
	}{
		"a balance":                  {bank, balance(t, person, "stake"), coins, "1234567", true},
		"an empty balance":           {bank, balance(t, person, "stake"), nil, "0", true},
		"what is no balance":         {bank, balance(t, person, "stake"), []byte{0xff, 1}, "", false},
		"a supply":                   {bank, supply, coins, "1234567", true},
		"params of the bank":         {bank, []byte{5}, []byte("12"), "", false},
		"a validator":                {staking, stakingtypes.GetValidatorKey(validator), bonded, "77", true},
		"no validator":               {staking, stakingtypes.GetValidatorKey(validator), nil, "0", true},
		"what is no validator":       {staking, stakingtypes.GetValidatorKey(validator), []byte{0xff}, "", false},
		"a delegation":               {staking, stakingtypes.GetDelegationKey(person, validator), delegated, "1.500000000000000000", true},
		"no delegation":              {staking, stakingtypes.GetDelegationKey(person, validator), nil, "0", true},
		"params of staking":          {staking, stakingtypes.ParamsKey, []byte("12"), "", false},
		"a contract's number":        {wasm, append(storage[:33:33], "a"...), []byte("12"), "12", true},
		"a contract's quoted number": {wasm, append(storage[:33:33], "a"...), []byte(`"12"`), "12", true},
		"a contract's text":          {wasm, append(storage[:33:33], "a"...), []byte(`"twelve"`), "", false},
		"no such key of a contract":  {wasm, append(storage[:33:33], "a"...), nil, "", false},
		"which code a contract has":  {wasm, append([]byte{2}, contract...), []byte("12"), "", false},
	} {
		number, is := read(c.store, c.key, c.value)
		require.Equal(t, c.is, is, name)
		if is {
			require.Equal(t, c.want, number, name)
		}
	}
	require.True(t, wasm.Reading(append(storage[:33:33], "a"...)).Bytes)
	require.False(t, bank.Reading(balance(t, person, "stake")).Bytes)
}
