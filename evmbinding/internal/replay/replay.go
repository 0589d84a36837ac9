// Package replay makes the state that a fire of a past block finds, for traces.
package replay

import (
	"fmt"

	abci "github.com/cometbft/cometbft/abci/types"
	cmtproto "github.com/cometbft/cometbft/proto/tendermint/types"
	coretypes "github.com/cometbft/cometbft/rpc/core/types"
	evmkeeper "github.com/cosmos/evm/x/vm/keeper"
	"github.com/cosmos/evm/x/vm/statedb"
	evmtypes "github.com/cosmos/evm/x/vm/types"

	coreheader "cosmossdk.io/core/header"
	storetypes "cosmossdk.io/store/types"

	"github.com/cosmos/cosmos-sdk/baseapp"
	sdk "github.com/cosmos/cosmos-sdk/types"
)

// States are those of the chain at its heights, and how its blocks begin. An app is one.
type States interface {
	CreateQueryContext(height int64, prove bool) (sdk.Context, error)
	GetConsensusParams(ctx sdk.Context) cmtproto.ConsensusParams
	// BeginBlocker runs for a trace too, on a branch that is dropped, while the node runs other blocks.
	BeginBlocker(ctx sdk.Context) (sdk.BeginBlock, error)
}

// Blocks are those whose fires run again.
type Blocks struct {
	States States
	EVM    *evmkeeper.Keeper
}

// Before is the state that a fire of a block finds, as near as can be had: the one before the block, on which the
// block has begun again, and its Ethereum transactions have run again. Transactions of the SDK, fees and charges are
// not there, nor what comes before begin blockers: an upgrade that ran again could write its plan to the node's disk.
//
// A chain's first block has no state before it: a genesis is not kept as one. An app takes height 0 for the latest.
func (b Blocks) Before(
	block *coretypes.ResultBlock, commit abci.CommitInfo, own []*evmtypes.MsgEthereumTx,
) (sdk.Context, error) {
	header := &block.Block.Header
	if header.Height <= 1 {
		return sdk.Context{}, fmt.Errorf("block %d has no state before it: want a fire of a later block", header.Height)
	}
	ctx, err := b.States.CreateQueryContext(header.Height-1, false)
	if err != nil {
		return ctx, fmt.Errorf("the state before block %d: %w", header.Height, err)
	}
	ctx = b.begun(ctx, block, commit)
	if _, err := b.States.BeginBlocker(ctx); err != nil {
		return ctx, fmt.Errorf("the beginning of block %d: %w", header.Height, err)
	}
	cfg, err := b.EVM.EVMConfig(ctx, sdk.ConsAddress(header.ProposerAddress))
	if err != nil {
		return ctx, err
	}
	for i, tx := range own {
		msg := tx.AsMessage(cfg.BaseFee)
		run := ctx.WithGasMeter(evmtypes.NewInfiniteGasMeterWithLimit(msg.GasLimit)).WithEventManager(sdk.NewEventManager())
		txConfig := statedb.NewTxConfig(tx.Hash(), uint(i), 0)
		// One that can't run again changes nothing, as in cosmos/evm's traces.
		_, _ = b.EVM.ApplyMessageWithConfig(run, statedb.New(run, b.EVM, txConfig), *msg, nil, true, false, cfg, txConfig, false, nil)
	}
	return ctx, nil
}

// begun is the context of a block, as the SDK makes it for begin blockers, on the state of a query. The store charges
// nothing.
func (b Blocks) begun(ctx sdk.Context, block *coretypes.ResultBlock, commit abci.CommitInfo) sdk.Context {
	header, hash := &block.Block.Header, block.BlockID.Hash
	evidence := block.Block.Evidence.Evidence.ToABCI()
	return ctx.WithConsensusParams(b.States.GetConsensusParams(ctx)).
		WithBlockHeader(cmtproto.Header{
			ChainID: header.ChainID, Height: header.Height, Time: header.Time, ProposerAddress: header.ProposerAddress,
			NextValidatorsHash: header.NextValidatorsHash, AppHash: header.AppHash,
		}).
		WithHeaderHash(hash).
		WithHeaderInfo(coreheader.Info{
			ChainID: header.ChainID, Height: header.Height, Time: header.Time, Hash: hash, AppHash: header.AppHash,
		}).
		WithVoteInfos(commit.Votes).
		WithCometInfo(baseapp.NewBlockInfo(evidence, header.NextValidatorsHash, header.ProposerAddress, commit)).
		WithIsCheckTx(false).WithExecMode(sdk.ExecModeFinalize).
		WithGasMeter(storetypes.NewInfiniteGasMeter()).WithBlockGasMeter(storetypes.NewInfiniteGasMeter()).
		WithKVGasConfig(storetypes.GasConfig{}).WithTransientKVGasConfig(storetypes.GasConfig{})
}
