package rpctest

import (
	"encoding/base64"
	"math/big"
	"testing"

	abci "github.com/cometbft/cometbft/abci/types"
	evmtypes "github.com/cosmos/evm/x/vm/types"
	"github.com/cosmos/gogoproto/proto"
	"github.com/ethereum/go-ethereum/common"
	ethtypes "github.com/ethereum/go-ethereum/core/types"
	"github.com/stretchr/testify/require"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/evmbinding"
	"github.com/cosmos-timers/timers/evmbinding/evmrpc"
	"github.com/cosmos-timers/timers/evmbinding/testutil/evmapp"
)

// TestFires_OfABlock: those that succeeded and those that failed, in order, with what a receipt needs.
func TestFires_OfABlock(t *testing.T) {
	c := chain(t)
	d, block, _ := mixed(t, c)
	fires, err := evmrpc.Fires(block.Events, chainID)
	require.NoError(t, err)
	require.Len(t, fires, 3)
	hashes := map[common.Hash]bool{}
	for i := range fires {
		f := &fires[i]
		hashes[f.Hash] = true
		require.Equal(t, evmbinding.Address, f.From)
		require.Equal(t, d.Address, *f.Tx.To())
		require.Equal(t, f.Tx.Hash(), f.Hash)
		require.Positive(t, f.Response.GasUsed)
		require.LessOrEqual(t, f.Response.GasUsed, f.Tx.Gas())
		require.Less(t, f.Tx.Gas(), uint64(200_000-20_000))
		require.Empty(t, f.Response.Ret)
		require.Equal(t, f.Failed(), len(f.Response.Logs) == 0)
	}
	require.Len(t, hashes, 3)
	require.Equal(t, []bool{false, true, false}, []bool{fires[0].Failed(), fires[1].Failed(), fires[2].Failed()})
	require.Equal(t, "execution reverted", fires[1].Response.VmError)
	require.Equal(t, d.Address.Hex(), fires[0].Response.Logs[0].Address)
}

// TestFires_OutOfGasIsOfItsWholeLimit.
func TestFires_OutOfGasIsOfItsWholeLimit(t *testing.T) {
	c := chain(t)
	d := alarm(c)
	d.Call(alice, "start", uint64(1), uint64(120_000), []byte("l"))
	fires, err := evmrpc.Fires(c.Block().Events, chainID)
	require.NoError(t, err)
	require.Len(t, fires, 1)
	require.True(t, fires[0].Failed())
	require.Equal(t, fires[0].Tx.Gas(), fires[0].Response.GasUsed)
}

// forgedTx changes the transaction of an event, forgedData its result.
func forgedTx(t *testing.T, change func(tx *ethtypes.LegacyTx)) func(string) string {
	t.Helper()
	return func(text string) string {
		rlp, err := base64.StdEncoding.DecodeString(text)
		require.NoError(t, err)
		var tx ethtypes.Transaction
		require.NoError(t, tx.UnmarshalBinary(rlp))
		v, r, s := tx.RawSignatureValues()
		legacy := &ethtypes.LegacyTx{
			Nonce: tx.Nonce(), GasPrice: tx.GasPrice(), Gas: tx.Gas(), To: tx.To(), Value: tx.Value(), Data: tx.Data(), V: v, R: r, S: s,
		}
		change(legacy)
		rlp, err = ethtypes.NewTx(legacy).MarshalBinary()
		require.NoError(t, err)
		return base64.StdEncoding.EncodeToString(rlp)
	}
}

func forgedData(t *testing.T, change func(r *evmtypes.MsgEthereumTxResponse)) func(string) string {
	t.Helper()
	return func(text string) string {
		raw, err := base64.StdEncoding.DecodeString(text)
		require.NoError(t, err)
		var data sdk.TxMsgData
		require.NoError(t, proto.Unmarshal(raw, &data))
		var response evmtypes.MsgEthereumTxResponse
		require.NoError(t, proto.Unmarshal(data.MsgResponses[0].Value, &response))
		change(&response)
		data.MsgResponses[0].Value, err = proto.Marshal(&response)
		require.NoError(t, err)
		raw, err = proto.Marshal(&data)
		require.NoError(t, err)
		return base64.StdEncoding.EncodeToString(raw)
	}
}

// TestFires_RefusesWhatIsNotAFires: each change of an event, or of what stands around it, makes it count no more, and the
// others count.
func TestFires_RefusesWhatIsNotAFires(t *testing.T) {
	c := chain(t)
	_, block, _ := mixed(t, c)
	fire, at := event(t, block.Events, evmbinding.EventFire)
	_, fired := event(t, block.Events, firedEvent)
	deliverID := fire.Attributes[len(fire.Attributes)-2].Value
	other := evmapp.AccountOf("other").Address
	tx := func(change func(tx *ethtypes.LegacyTx)) []abci.Event {
		return edited(block.Events, at, "tx", forgedTx(t, change))
	}
	data := func(change func(r *evmtypes.MsgEthereumTxResponse)) []abci.Event {
		return edited(block.Events, at, "data", forgedData(t, change))
	}
	for name, test := range map[string]struct {
		events []abci.Event
		says   string
	}{
		"at the beginning of the block": {edited(block.Events, at, "mode", replaced("EndBlock", "BeginBlock")), "mode=EndBlock"},
		"another delivery":              {edited(block.Events, at, "deliver_id", replaced(deliverID[:2], "zz")), "tx: "},
		"no hexadecimal sender":         {edited(block.Events, at, "from", replaced("0x", "xx")), "want an address"},
		"another sender":                {edited(block.Events, at, "from", func(string) string { return other.Hex() }), "its actor is"},
		"a signature":                   {tx(func(tx *ethtypes.LegacyTx) { tx.S = big.NewInt(1) }), "v, r, s are"},
		"another chain":                 {tx(func(tx *ethtypes.LegacyTx) { tx.V = big.NewInt(37) }), "v, r, s are"},
		"another delivery in it":        {tx(func(tx *ethtypes.LegacyTx) { tx.R = big.NewInt(7) }), "v, r, s are"},
		"a gas price":                   {tx(func(tx *ethtypes.LegacyTx) { tx.GasPrice = big.NewInt(1) }), "gas price of 0"},
		"a creation":                    {tx(func(tx *ethtypes.LegacyTx) { tx.To = nil }), "want a legacy transaction to an address"},
		"another contract":              {tx(func(tx *ethtypes.LegacyTx) { tx.To = &other }), "want that of the transaction"},
		"a limit beyond all":            {tx(func(tx *ethtypes.LegacyTx) { tx.Gas = 1 << 63 }), "want a legacy transaction"},
		"no base64":                     {edited(block.Events, at, "tx", func(string) string { return "?" }), "tx: illegal base64"},
		"no transaction":                {edited(block.Events, at, "tx", func(string) string { return "AAAA" }), "tx: "},
		"no result":                     {edited(block.Events, at, "data", func(string) string { return "" }), "want one /cosmos.evm"},
		"a broken result":               {edited(block.Events, at, "data", func(string) string { return "AAAA" }), "data: "},
		"another hash":                  {data(func(r *evmtypes.MsgEthereumTxResponse) { r.Hash = "0x00" }), "want that of the transaction"},
		"more gas than its limit":       {data(func(r *evmtypes.MsgEthereumTxResponse) { r.GasUsed = 200_001 }), "want at most the limit"},
		"an error":                      {data(func(r *evmtypes.MsgEthereumTxResponse) { r.VmError = "no" }), "does not go with this event"},
		"success of a failure": {
			edited(block.Events, fired, "success", func(string) string { return "false" }), "success is false",
		},
		"another actor": {
			edited(block.Events, fired, "actor", func(string) string { return `"` + sdk.AccAddress(other.Bytes()).String() + `"` }), "its actor is",
		},
		"an actor of another kind": {
			edited(block.Events, fired, "actor", func(string) string { return `"` + sdk.AccAddress(make([]byte, 32)).String() + `"` }), "its actor is",
		},
		"not reported": {append(append([]abci.Event(nil), block.Events[:fired]...), block.Events[fired+1:]...), "that x/timers reports"},
		"twice":        {append(append([]abci.Event(nil), block.Events...), fire), "one event of it"},
	} {
		t.Run(name, func(t *testing.T) {
			fires, err := evmrpc.Fires(test.events, chainID)
			require.ErrorContains(t, err, test.says)
			want := 2
			if name == "twice" {
				want = 3
			}
			require.Len(t, fires, want)
		})
	}
	// A failure with logs.
	_, failed := event(t, block.Events, evmbinding.EventFailed)
	fires, err := evmrpc.Fires(edited(block.Events, failed, "data", forgedData(t, func(r *evmtypes.MsgEthereumTxResponse) {
		r.Logs = []*evmtypes.Log{{}}
	})), chainID)
	require.ErrorContains(t, err, "1 logs of a fire that failed")
	require.Len(t, fires, 2)
}
