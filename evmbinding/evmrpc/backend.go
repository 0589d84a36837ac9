package evmrpc

import (
	"encoding/json"
	"fmt"

	coretypes "github.com/cometbft/cometbft/rpc/core/types"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/common/math"
	ethrpc "github.com/ethereum/go-ethereum/rpc"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos/evm/rpc/backend"
	rpctypes "github.com/cosmos/evm/rpc/types"
	evmtypes "github.com/cosmos/evm/x/vm/types"
)

// fireBackend is cosmos/evm's backend over a Client, and what takes more than that.
type fireBackend struct {
	*backend.Backend
	// plain shows no fires.
	plain  *backend.Backend
	client *Client
}

var _ backend.BackendI = (*fireBackend)(nil)

// FeeHistory implements backend.EVMBackend, without fires: they pay no gas price, and compete with no transaction by one.
func (b *fireBackend) FeeHistory(
	count math.HexOrDecimal64, last ethrpc.BlockNumber, percentiles []float64,
) (*rpctypes.FeeHistoryResult, error) {
	return b.plain.FeeHistory(count, last, percentiles)
}

// GetTransactionReceipt implements backend.EVMBackend. That of a fire is the one of its block's receipts, which has the
// gas of the whole block up to it.
func (b *fireBackend) GetTransactionReceipt(hash common.Hash) (map[string]any, error) {
	fire, block, err := b.client.Fire(b.Ctx, hash)
	if err != nil {
		return nil, err
	}
	if fire == nil {
		return b.Backend.GetTransactionReceipt(hash)
	}
	height := rpctypes.BlockNumber(block.Block.Height)
	receipts, err := b.GetBlockReceipts(rpctypes.BlockNumberOrHash{BlockNumber: &height})
	if err != nil {
		return nil, err
	}
	for _, receipt := range receipts {
		if receipt["transactionHash"] == hash {
			return receipt, nil
		}
	}
	return nil, fmt.Errorf("block %d has no receipt of fire %s", height, hash)
}

// TraceTransaction implements backend.EVMBackend.
func (b *fireBackend) TraceTransaction(hash common.Hash, config *rpctypes.TraceConfig) (any, error) {
	fire, block, err := b.client.Fire(b.Ctx, hash)
	if err != nil {
		return nil, err
	}
	if fire == nil {
		return b.Backend.TraceTransaction(hash, config)
	}
	return b.traceFire(fire, block, config)
}

// TraceBlock implements backend.EVMBackend: the block's own transactions, and its fires.
func (b *fireBackend) TraceBlock(
	height rpctypes.BlockNumber, config *rpctypes.TraceConfig, block *coretypes.ResultBlock,
) ([]*evmtypes.TxTraceResult, error) {
	own, err := b.client.Own(b.Ctx, block.Block.Height)
	if err != nil {
		return nil, err
	}
	traces, err := b.plain.TraceBlock(height, config, own)
	if err != nil {
		return nil, err
	}
	fires, err := b.client.FiresOf(b.Ctx, block.Block.Height)
	if err != nil {
		return nil, err
	}
	for i := range fires {
		trace := &evmtypes.TxTraceResult{}
		if trace.Result, err = b.traceFire(&fires[i], own, config); err != nil {
			trace = &evmtypes.TxTraceResult{Error: err.Error()}
		}
		traces = append(traces, trace)
	}
	return traces, nil
}

// traceFire runs a fire again, on the state before its block: what the block's transactions and earlier fires did is not
// there.
func (b *fireBackend) traceFire(fire *Fire, block *coretypes.ResultBlock, config *rpctypes.TraceConfig) (any, error) {
	gas, data := hexutil.Uint64(fire.Tx.Gas()), hexutil.Bytes(fire.Tx.Data())
	args, err := json.Marshal(evmtypes.TransactionArgs{
		From: &fire.From, To: fire.Tx.To(), Gas: &gas, Value: (*hexutil.Big)(fire.Tx.Value()), Input: &data,
	})
	if err != nil {
		return nil, err
	}
	request := &evmtypes.QueryTraceCallRequest{
		Args: args, GasCap: b.RPCGasCap(), ProposerAddress: sdk.ConsAddress(block.Block.ProposerAddress),
		BlockNumber: block.Block.Height, BlockHash: common.Bytes2Hex(block.BlockID.Hash), BlockTime: block.Block.Time,
		ChainId: b.EvmChainID.Int64(),
	}
	if config != nil {
		request.TraceConfig = &config.TraceConfig
		request.TraceConfig.TracerJsonConfig = string(config.TracerConfig)
	}
	response, err := b.QueryClient.TraceCall(rpctypes.ContextWithHeight(max(block.Block.Height-1, 1)), request)
	if err != nil {
		return nil, err
	}
	var trace any
	err = json.Unmarshal(response.Data, &trace)
	return trace, err
}
