package rpctest

import (
	"math/big"
	"testing"

	abci "github.com/cometbft/cometbft/abci/types"
	coretypes "github.com/cometbft/cometbft/rpc/core/types"
	rpctypes "github.com/cosmos/evm/rpc/types"
	evmtypes "github.com/cosmos/evm/x/vm/types"
	"github.com/ethereum/go-ethereum/common"
	"github.com/stretchr/testify/require"

	authtypes "github.com/cosmos/cosmos-sdk/x/auth/types"
)

// TestClient_AnswersForATransactionThatFailsAtTheCommit: one that sends a wei to a module account has no answer in its
// result, and cosmos/evm shows nothing of a block whose transactions have none. It is shown as failed, without logs and with
// the gas of its limit, in a block with fires and in one without.
func TestClient_AnswersForATransactionThatFailsAtTheCommit(t *testing.T) {
	c := chain(t)
	module := common.BytesToAddress(authtypes.NewModuleAddress("feemarket"))
	const gas = 100_000
	for _, fires := range []int{0, 1} {
		d := alarm(c)
		if fires > 0 {
			d.Call(alice, "start", uint64(1), uint64(200_000), []byte{})
		}
		txs := [][]byte{
			c.Sign(bob, 0, &module, big.NewInt(1), gas, nil), d.Tx(alice, 0, "start", uint64(1_000), uint64(200_000), []byte{}),
		}
		response := c.Block(txs...)
		failed := response.TxResults[0]
		require.NotEqual(t, abci.CodeTypeOK, failed.Code)
		require.Contains(t, failed.Log, rpctypes.StateDBCommitError)
		_, err := evmtypes.DecodeMsgLogs(failed.Data, 0, 1)
		require.ErrorContains(t, err, "invalid message index: 0")
		recording := newRecorded()
		height := recording.add(c, response, txs...)
		client := newTestClient(t, c, recording)

		results, err := client.BlockResults(t.Context(), &height)
		require.NoError(t, err)
		block, err := client.Block(t.Context(), &height)
		require.NoError(t, err)
		require.Len(t, block.Block.Txs, 2+fires)
		require.Len(t, results.TxsResults, 2+fires)
		require.Empty(t, failed.Data, "CometBFT's own result is not changed")
		for i, result := range results.TxsResults {
			require.True(t, rpctypes.TxSucessOrExpectedFailure(result))
			logs, err := evmtypes.DecodeMsgLogs(result.Data, 0, uint64(height))
			require.NoError(t, err, "transaction %d", i)
			require.Equal(t, i > 0, len(logs) > 0)
			tx, err := client.TxConfig().TxDecoder()(block.Block.Txs[i])
			require.NoError(t, err)
			hash := tx.GetMsgs()[0].(*evmtypes.MsgEthereumTx).Hash()
			parsed, err := rpctypes.ParseTxIndexerResult(
				&coretypes.ResultTx{Height: height, Index: uint32(i), TxResult: *result, Tx: block.Block.Txs[i]}, tx,
				func(txs *rpctypes.ParsedTxs) *rpctypes.ParsedTx { return txs.GetTxByHash(hash) })
			require.NoError(t, err)
			require.Equal(t, i == 0, parsed.Failed)
			answers, err := evmtypes.DecodeTxResponses(result.Data)
			require.NoError(t, err)
			require.Len(t, answers, 1)
			require.Equal(t, hash.Hex(), answers[0].Hash)
			if i == 0 {
				require.Equal(t, uint64(gas), parsed.GasUsed)
				require.Equal(t, rpctypes.StateDBCommitError, answers[0].VmError)
			}
		}
		d.Call(alice, "cancel", d.View("last")[0].([32]byte))
	}
}
