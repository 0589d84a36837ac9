package evmrpc

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	coretypes "github.com/cometbft/cometbft/rpc/core/types"
	cmttypes "github.com/cometbft/cometbft/types"
	evmtypes "github.com/cosmos/evm/x/vm/types"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/tracing"
	ethtypes "github.com/ethereum/go-ethereum/core/types"
	"github.com/stretchr/testify/require"
)

// TestTrace_OfTheFirstBlockIsRefused: no state comes before it, and that of another height is not taken for it.
func TestTrace_OfTheFirstBlockIsRefused(t *testing.T) {
	c := chain(t)
	replay := replayer{c.App, c.EVM}
	c.Block()
	proposer := c.Ctx().BlockHeader().ProposerAddress
	block := func(height int64) *coretypes.ResultBlock {
		return &coretypes.ResultBlock{Block: &cmttypes.Block{
			Header: cmttypes.Header{Height: height, ProposerAddress: proposer},
		}}
	}
	_, err := replay.before(block(1), nil, nil)
	require.ErrorContains(t, err, "block 1 has no state before it")
	_, err = replay.before(block(2), nil, nil)
	require.NoError(t, err)
	_, err = replay.before(block(c.LastBlockHeight()+2), nil, nil)
	require.ErrorContains(t, err, "the state before block")
}

// TestBlockTraces_NameTheirTransactions, as go-ethereum's do, and none by the hash of another.
func TestBlockTraces_NameTheirTransactions(t *testing.T) {
	hashes := []common.Hash{{1}, {2}}
	named, err := name([]*evmtypes.TxTraceResult{{Result: "done"}, {Error: "refused"}}, hashes)
	require.NoError(t, err)
	text, err := json.Marshal(named)
	require.NoError(t, err)
	require.JSONEq(t, fmt.Sprintf(
		`[{"txHash":%q,"result":"done"},{"txHash":%q,"error":"refused"}]`, hashes[0], hashes[1]), string(text))
	_, err = name([]*evmtypes.TxTraceResult{{}}, hashes)
	require.ErrorContains(t, err, "1 traces of 2 transactions")
	named, err = name(nil, nil)
	require.NoError(t, err)
	text, err = json.Marshal(named)
	require.NoError(t, err)
	require.Equal(t, "[]", string(text))
}

// TestTrace_ShowsTheFailureThatTheReceiptShows, unless the call has one of its own; and no other.
func TestTrace_ShowsTheFailureThatTheReceiptShows(t *testing.T) {
	own := errors.New("out of gas")
	for _, try := range []struct {
		reported string
		err      error
		want     string
		gas      uint64
	}{
		{"", nil, "", 7},
		{"timers error 3", nil, "timers error 3", 5},
		{"timers error 3", own, own.Error(), 7},
		{"", own, own.Error(), 7},
	} {
		got, gas := []string{}, uint64(0)
		hooks := reported(tracing.Hooks{
			OnExit: func(_ int, _ []byte, _ uint64, err error, reverted bool) {
				require.Equal(t, err != nil, reverted)
				got = append(got, fmt.Sprint(err))
			},
			OnTxEnd: func(receipt *ethtypes.Receipt, err error) {
				require.NoError(t, err)
				gas = receipt.GasUsed
			},
		}, &Fire{Response: &evmtypes.MsgEthereumTxResponse{VmError: try.reported, GasUsed: 5}})
		hooks.OnExit(1, nil, 1, nil, false)
		hooks.OnExit(0, nil, 2, try.err, try.err != nil)
		hooks.OnTxEnd(&ethtypes.Receipt{GasUsed: 7}, try.err)
		want := "<nil>"
		if try.want != "" {
			want = try.want
		}
		require.Equal(t, []string{"<nil>", want}, got, "%+v", try)
		require.Equal(t, try.gas, gas, "%+v", try)
	}
	require.NotPanics(t, func() { reported(tracing.Hooks{}, &Fire{Response: &evmtypes.MsgEthereumTxResponse{}}) })
}
