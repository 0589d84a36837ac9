package evmrpc

import (
	"context"
	"slices"

	abci "github.com/cometbft/cometbft/abci/types"
	rpcclient "github.com/cometbft/cometbft/rpc/client"
	coretypes "github.com/cometbft/cometbft/rpc/core/types"
	cmttypes "github.com/cometbft/cometbft/types"
	rpctypes "github.com/cosmos/evm/rpc/types"
	evmtypes "github.com/cosmos/evm/x/vm/types"
	"github.com/cosmos/gogoproto/proto"

	codectypes "github.com/cosmos/cosmos-sdk/codec/types"
	sdk "github.com/cosmos/cosmos-sdk/types"
)

// Answering is a client of CometBFT that gives an answer to Ethereum transactions whose results have none, since they failed
// after they ran. Without it cosmos/evm shows nothing of a block that has one. All else is the client's below.
type Answering struct {
	rpcclient.Client
	Decode sdk.TxDecoder
}

// BlockResults implements rpcclient.SignClient. It asks for the block, too, where a transaction has no answer.
func (a Answering) BlockResults(ctx context.Context, height *int64) (*coretypes.ResultBlockResults, error) {
	results, err := a.Client.BlockResults(ctx, height)
	if err != nil || !slices.ContainsFunc(results.TxsResults, isUnanswered) {
		return results, err
	}
	block, err := a.Block(ctx, &results.Height)
	if err != nil {
		return nil, err
	}
	all := *results
	all.TxsResults, err = answered(a.Decode, block.Block.Txs, results.TxsResults)
	return &all, err
}

// isUnanswered reports whether a transaction has failed that cosmos/evm nevertheless shows: at the commit of the EVM, or
// beyond the gas of the block. Its result has no data, in which cosmos/evm looks for the answer of each message, so that
// it would show nothing of the block.
func isUnanswered(result *abci.ExecTxResult) bool {
	return result.Code != abci.CodeTypeOK && len(result.Data) == 0 && rpctypes.TxSucessOrExpectedFailure(result)
}

// answered are a block's results in which each Ethereum transaction has an answer: those that have none failed without
// logs, and took their limit, as cosmos/evm says of them.
func answered(decode sdk.TxDecoder, txs cmttypes.Txs, results []*abci.ExecTxResult) ([]*abci.ExecTxResult, error) {
	all := slices.Clone(results)
	for i, result := range results {
		if i >= len(txs) || !isUnanswered(result) {
			continue
		}
		tx, err := decode(txs[i])
		if err != nil {
			continue // As cosmos/evm does.
		}
		failure := rpctypes.StateDBCommitError
		if rpctypes.TxExceedBlockGasLimit(result) {
			failure = rpctypes.ExceedBlockGasLimitError
		}
		var answers []*codectypes.Any
		for _, msg := range tx.GetMsgs() {
			if msg, ok := msg.(*evmtypes.MsgEthereumTx); ok {
				packed, err := codectypes.NewAnyWithValue(&evmtypes.MsgEthereumTxResponse{
					Hash: msg.Hash().Hex(), VmError: failure, GasUsed: msg.GetGas(), MaxUsedGas: msg.GetGas(),
				})
				if err != nil {
					return nil, err
				}
				answers = append(answers, packed)
			}
		}
		own := *result
		if own.Data, err = proto.Marshal(&sdk.TxMsgData{MsgResponses: answers}); err != nil {
			return nil, err
		}
		all[i] = &own
	}
	return all, nil
}
