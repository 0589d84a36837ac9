package evmrpc

import (
	"context"
	"fmt"
	"math/big"
	"regexp"

	abci "github.com/cometbft/cometbft/abci/types"
	rpcclient "github.com/cometbft/cometbft/rpc/client"
	coretypes "github.com/cometbft/cometbft/rpc/core/types"
	"github.com/cometbft/cometbft/state"
	cmttypes "github.com/cometbft/cometbft/types"
	evmtypes "github.com/cosmos/evm/x/vm/types"
	"github.com/ethereum/go-ethereum/common"
	ethtypes "github.com/ethereum/go-ethereum/core/types"
	lru "github.com/hashicorp/golang-lru/v2"

	"cosmossdk.io/log"

	"github.com/cosmos/cosmos-sdk/client"

	"github.com/cosmos-timers/timers/evmbinding"
)

const (
	// cachedBlocks is how many blocks' fires are kept in memory. A block's events bound them: what the lane lets run.
	cachedBlocks = 128
	// cachedHashes is of how many fires the heights are kept, 40 bytes each.
	cachedHashes = 65_536
)

// Client is a client of CometBFT that shows fires as transactions behind a block's own, over one that answers for
// transactions without an answer. It changes what it answers for blocks with fires, and for searches of a fire's hash; all
// else is the client's below.
type Client struct {
	rpcclient.Client
	txConfig client.TxConfig
	chainID  *big.Int
	logger   log.Logger
	// blocks are what is shown of blocks by their heights, nil for one without fires; heights are those of fires.
	blocks  *lru.Cache[int64, *shown]
	heights *lru.Cache[common.Hash, int64]
}

// NewClient returns a client over another one. chainID is that of the EVM.
func NewClient(inner rpcclient.Client, txConfig client.TxConfig, chainID *big.Int, logger log.Logger) (*Client, error) {
	blocks, err := lru.New[int64, *shown](cachedBlocks)
	if err != nil {
		return nil, err
	}
	heights, err := lru.New[common.Hash, int64](cachedHashes)
	if err != nil {
		return nil, err
	}
	isShown := func(hash common.Hash) bool {
		_, ok := heights.Get(hash)
		return ok
	}
	return &Client{Answering{inner, txConfig.TxDecoder()}, senders{txConfig, isShown}, chainID, logger, blocks, heights}, nil
}

// TxConfig is the one with which a backend must read the client's blocks: it gives fires their senders.
func (c *Client) TxConfig() client.TxConfig { return c.txConfig }

// shown is what is added to a block; nil for one without fires. block and results are the block's, or nil, and are asked for
// then.
func (c *Client) shown(
	ctx context.Context, height int64, block *coretypes.ResultBlock, results *coretypes.ResultBlockResults,
) (s *shown, err error) {
	if s, ok := c.blocks.Get(height); ok {
		return s, nil
	}
	if results == nil {
		if results, err = c.Client.BlockResults(ctx, &height); err != nil {
			return nil, err
		}
	}
	fires, odd := Fires(results.FinalizeBlockEvents, c.chainID)
	if odd != nil {
		c.logger.Error("events that are not of fires", "height", height, "error", odd.Error())
	}
	if len(fires) > 0 {
		if block == nil {
			if block, err = c.Client.Block(ctx, &height); err != nil {
				return nil, err
			}
		}
		if s, err = show(c.txConfig, block, results, fires); err != nil {
			return nil, fmt.Errorf("showing the fires of block %d: %w", height, err)
		}
		for i := range fires {
			c.heights.Add(fires[i].Hash, height)
		}
	}
	c.blocks.Add(height, s)
	return s, nil
}

// Block implements rpcclient.SignClient. A block whose results the node does not have is shown without fires.
func (c *Client) Block(ctx context.Context, height *int64) (*coretypes.ResultBlock, error) {
	block, err := c.Client.Block(ctx, height)
	return c.withFires(ctx, block, err)
}

// BlockByHash implements rpcclient.SignClient.
func (c *Client) BlockByHash(ctx context.Context, hash []byte) (*coretypes.ResultBlock, error) {
	block, err := c.Client.BlockByHash(ctx, hash)
	return c.withFires(ctx, block, err)
}

func (c *Client) withFires(ctx context.Context, block *coretypes.ResultBlock, err error) (*coretypes.ResultBlock, error) {
	if err != nil || block == nil || block.Block == nil {
		return block, err
	}
	s, err := c.shown(ctx, block.Block.Height, block, nil)
	if err != nil {
		c.logger.Debug("a block is shown without fires", "height", block.Block.Height, "error", err.Error())
	}
	if s == nil {
		return block, nil
	}
	return s.block(block), nil
}

// BlockResults implements rpcclient.SignClient.
func (c *Client) BlockResults(ctx context.Context, height *int64) (*coretypes.ResultBlockResults, error) {
	results, err := c.Client.BlockResults(ctx, height)
	if err != nil {
		return nil, err
	}
	s, err := c.shown(ctx, results.Height, nil, results)
	if err != nil || s == nil {
		return results, err
	}
	return s.blockResults(results), nil
}

// Own is a block with its own transactions alone.
func (c *Client) Own(ctx context.Context, height int64) (*coretypes.ResultBlock, error) {
	return c.Client.Block(ctx, &height)
}

// validatorsOfAPage is the most that CometBFT returns at once.
const validatorsOfAPage = 100

// commitOf is the commit that a block carries for the one before it, as an app is given it: with the power of each
// validator who could sign. A chain's first block carries none.
func (c *Client) commitOf(ctx context.Context, block *cmttypes.Block) (abci.CommitInfo, error) {
	before, perPage, set := block.Height-1, validatorsOfAPage, &cmttypes.ValidatorSet{}
	for page := 1; len(set.Validators) < block.LastCommit.Size(); page++ {
		found, err := c.Validators(ctx, &before, &page, &perPage)
		if err != nil {
			return abci.CommitInfo{}, fmt.Errorf("the validators of block %d: %w", before, err)
		}
		set.Validators = append(set.Validators, found.Validators...)
		if len(found.Validators) == 0 || len(set.Validators) > block.LastCommit.Size() {
			return abci.CommitInfo{}, fmt.Errorf("block %d has %d validators: want %d, as its commit has", before,
				len(set.Validators), block.LastCommit.Size())
		}
	}
	return state.BuildLastCommitInfo(block, set, 0), nil
}

// searchedHash is how cosmos/evm asks for a transaction by its hash.
var searchedHash = regexp.MustCompile(
	`^` + evmtypes.TypeMsgEthereumTx + `\.` + evmtypes.AttributeKeyEthereumTxHash + `='(0x[0-9a-fA-F]{64})'$`)

// TxSearch implements rpcclient.SignClient: a fire is found by its hash.
func (c *Client) TxSearch(ctx context.Context, query string, prove bool, page, perPage *int, order string) (*coretypes.ResultTxSearch, error) {
	if match := searchedHash.FindStringSubmatch(query); match != nil {
		found, err := c.Find(ctx, common.HexToHash(match[1]))
		if err != nil {
			return nil, err
		}
		if found != nil {
			return &coretypes.ResultTxSearch{Txs: []*coretypes.ResultTx{found}, TotalCount: 1}, nil
		}
	}
	return c.Client.TxSearch(ctx, query, prove, page, perPage, order)
}

// Find finds a fire by its hash, as a transaction; nil if there is none.
func (c *Client) Find(ctx context.Context, hash common.Hash) (*coretypes.ResultTx, error) {
	_, s, block, err := c.find(ctx, hash)
	if err != nil || s == nil {
		return nil, err
	}
	return s.find(hash, block.Block.Height, len(block.Block.Txs)), nil
}

// Fire finds a fire by its hash, with its block; nil if there is none.
func (c *Client) Fire(ctx context.Context, hash common.Hash) (*Fire, *coretypes.ResultBlock, error) {
	fire, _, block, err := c.find(ctx, hash)
	return fire, block, err
}

// find finds a fire, with its block as CometBFT has it: among those that were shown lately, or by CometBFT's index of the
// events of blocks. A node without that index finds the former alone.
func (c *Client) find(ctx context.Context, hash common.Hash) (*Fire, *shown, *coretypes.ResultBlock, error) {
	var candidates []int64
	if height, ok := c.heights.Get(hash); ok {
		candidates = append(candidates, height)
	} else {
		for _, event := range []string{evmbinding.EventFire, evmbinding.EventFailed} {
			found, err := c.BlockSearch(ctx, fmt.Sprintf("%s.%s='%s'", event, evmbinding.AttributeHash, hash.Hex()), nil, nil, "asc")
			if err != nil {
				c.logger.Debug("no search for a fire", "hash", hash.Hex(), "error", err.Error())
				break
			}
			for _, block := range found.Blocks {
				candidates = append(candidates, block.Block.Height)
			}
		}
	}
	for _, height := range candidates {
		s, err := c.shown(ctx, height, nil, nil)
		if err != nil {
			return nil, nil, nil, err
		}
		if s == nil {
			continue
		}
		for i := range s.fires {
			if s.fires[i].Hash == hash {
				block, err := c.Own(ctx, height)
				return &s.fires[i], s, block, err
			}
		}
	}
	return nil, nil, nil, nil
}

// FiresOf are the fires of a block.
func (c *Client) FiresOf(ctx context.Context, height int64) ([]Fire, error) {
	s, err := c.shown(ctx, height, nil, nil)
	if err != nil || s == nil {
		return nil, err
	}
	return s.fires, nil
}

// LogsOf are the logs of the fires of a block.
func (c *Client) LogsOf(ctx context.Context, height int64) (logs []*ethtypes.Log, err error) {
	fires, err := c.FiresOf(ctx, height)
	for i := range fires {
		logs = append(logs, evmtypes.LogsToEthereum(fires[i].Response.Logs)...)
	}
	return logs, err
}
