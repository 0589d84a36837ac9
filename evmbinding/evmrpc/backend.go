package evmrpc

import (
	"fmt"

	"github.com/cosmos/evm/rpc/backend"
	rpctypes "github.com/cosmos/evm/rpc/types"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/math"
	ethrpc "github.com/ethereum/go-ethereum/rpc"
)

// fireBackend is cosmos/evm's backend over a Client, and what takes more than that.
type fireBackend struct {
	*backend.Backend
	// plain shows no fires.
	plain  *backend.Backend
	client *Client
	replay replayer
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
