package evmrpc

import (
	"fmt"

	coretypes "github.com/cometbft/cometbft/rpc/core/types"
	"github.com/cosmos/evm/rpc/namespaces/ethereum/debug"
	rpctypes "github.com/cosmos/evm/rpc/types"
	evmtypes "github.com/cosmos/evm/x/vm/types"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"github.com/cosmos/cosmos-sdk/server"
)

// traces are those of a block, as cosmos/evm has them.
type traces = []*evmtypes.TxTraceResult

// blockTrace is the trace of one transaction of a block. go-ethereum names the transaction, and so indexers ask for it;
// cosmos/evm does not.
type blockTrace struct {
	TxHash common.Hash `json:"txHash"`
	*evmtypes.TxTraceResult
}

// blockTraces are the methods of debug that trace whole blocks, in the place of cosmos/evm's.
type blockTraces struct {
	ctx     *server.Context
	backend *fireBackend
}

// TraceBlockByNumber implements debug_traceBlockByNumber.
func (t *blockTraces) TraceBlockByNumber(
	height rpctypes.BlockNumber, config *rpctypes.TraceConfig,
) ([]blockTrace, error) {
	return t.named(func(api *debug.API) (traces, error) { return api.TraceBlockByNumber(height, config) })
}

// TraceBlockByHash implements debug_traceBlockByHash.
func (t *blockTraces) TraceBlockByHash(hash common.Hash, config *rpctypes.TraceConfig) ([]blockTrace, error) {
	return t.named(func(api *debug.API) (traces, error) { return api.TraceBlockByHash(hash, config) })
}

// TraceBlock implements debug_traceBlock.
func (t *blockTraces) TraceBlock(rlp hexutil.Bytes, config *rpctypes.TraceConfig) ([]blockTrace, error) {
	return t.named(func(api *debug.API) (traces, error) { return api.TraceBlock(rlp, config) })
}

// named asks cosmos/evm for the traces of a block, and names their transactions.
func (t *blockTraces) named(trace func(*debug.API) (traces, error)) ([]blockTrace, error) {
	asked := &tracedBlock{fireBackend: t.backend}
	found, err := trace(debug.NewAPI(t.ctx, asked, false))
	if err != nil {
		return nil, err
	}
	return name(found, asked.hashes)
}

// name names traces by the hashes of their transactions.
func name(found traces, hashes []common.Hash) ([]blockTrace, error) {
	if len(found) != len(hashes) {
		return nil, fmt.Errorf("%d traces of %d transactions", len(found), len(hashes))
	}
	named := make([]blockTrace, len(found))
	for i, trace := range found {
		named[i] = blockTrace{hashes[i], trace}
	}
	return named, nil
}

// tracedBlock is a backend that keeps the hashes of the transactions of the block that it traces.
type tracedBlock struct {
	*fireBackend
	hashes []common.Hash
}

// TraceBlock implements backend.EVMBackend.
func (t *tracedBlock) TraceBlock(
	height rpctypes.BlockNumber, config *rpctypes.TraceConfig, block *coretypes.ResultBlock,
) (traces, error) {
	results, err := t.CometBlockResultByNumber(&block.Block.Height)
	if err != nil {
		return nil, err
	}
	for _, tx := range t.EthMsgsFromCometBlock(block, results) {
		t.hashes = append(t.hashes, tx.Hash())
	}
	return t.fireBackend.TraceBlock(height, config, block)
}
