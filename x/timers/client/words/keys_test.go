package words_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	storetypes "cosmossdk.io/store/types"

	"github.com/cosmos/cosmos-sdk/codec/address"
	"github.com/cosmos/cosmos-sdk/runtime"

	"github.com/cosmos-timers/timers/x/timers/client/words"
	"github.com/cosmos-timers/timers/x/timers/types"
	"github.com/cosmos-timers/timers/x/timers/watch"
)

// What the node reads is what people see again. Every form of the stores is here.
func TestKeysAreWrittenAsTheyAreRead(t *testing.T) {
	accounts, validators := address.NewBech32Codec("cosmos"), address.NewBech32Codec("cosmosvaloper")
	w := watch.New(storetypes.NewKVStoreKey("timers"))
	forms := 0
	for _, s := range []watch.Store{watch.Bank(accounts), watch.Staking(accounts, validators), watch.Wasm(accounts)} {
		w.Service(runtime.NewKVStoreService(storetypes.NewKVStoreKey(s.Name)), s)
		forms += len(s.Forms)
	}
	person, err := accounts.BytesToString(bytes.Repeat([]byte{7}, 20))
	require.NoError(t, err)
	contract, err := accounts.BytesToString(bytes.Repeat([]byte{8}, 32))
	require.NoError(t, err)
	validator, err := validators.BytesToString(bytes.Repeat([]byte{9}, 20))
	require.NoError(t, err)
	texts := []string{
		"bank:balances:" + person, "bank:balance:" + contract + ":stake", "bank:supply:ibc/A:b",
		"staking:validator:" + validator, "staking:delegations:" + person,
		"staking:delegation:" + person + ":" + validator, "staking:unbondings:" + contract,
		"wasm:contract:" + contract, "wasm:key:" + contract + ":a:b", "wasm:info:" + contract,
	}
	require.Len(t, texts, forms, "a form of the stores is missing here")
	texts = append(texts, "wasm:key:"+contract+":0x00ff", "wasm:key:"+contract+":0x3078", "bank:05")
	k := words.Keys{Accounts: accounts, Validators: validators}
	for _, text := range texts {
		key, err := w.Parse(text)
		require.NoError(t, err, text)
		require.Equal(t, text, k.Text(key))
	}
}

func TestKeysOfNoFormStayHexadecimal(t *testing.T) {
	k := words.Keys{Accounts: address.NewBech32Codec("cosmos"), Validators: address.NewBech32Codec("cosmosvaloper")}
	for store, prefixes := range map[string][]string{
		"bank": {"", "\x00", "\x00!", "\x02", "\x02\x00", "\x02\x05abc", "\x02\x01a\x1b"}, "other": {"\x02\x01a"},
		"staking": {"", "!", "!\x01ab", "1\x01a\x01", "1\x01a\x01bc", "2\x01ab"},
		"wasm":    {"", "\x03", "\x02" + string(make([]byte, 33)), "\x08" + string(make([]byte, 32))},
	} {
		for _, prefix := range prefixes {
			require.Regexp(t, "^"+store+":[0-9a-f]*$", k.Text(types.WatchKey{Store: store, Prefix: []byte(prefix)}))
		}
	}
}
