package evmrpc

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"time"

	abci "github.com/cometbft/cometbft/abci/types"
	cmtproto "github.com/cometbft/cometbft/proto/tendermint/types"
	coretypes "github.com/cometbft/cometbft/rpc/core/types"
	rpctypes "github.com/cosmos/evm/rpc/types"
	evmkeeper "github.com/cosmos/evm/x/vm/keeper"
	"github.com/cosmos/evm/x/vm/statedb"
	evmtypes "github.com/cosmos/evm/x/vm/types"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/tracing"
	ethtypes "github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/eth/tracers"
	"github.com/ethereum/go-ethereum/eth/tracers/logger"

	coreheader "cosmossdk.io/core/header"
	storetypes "cosmossdk.io/store/types"

	"github.com/cosmos/cosmos-sdk/baseapp"
	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/evmbinding"
)

// traceTimeout is what a trace may take if its request states no timeout, as with cosmos/evm.
const traceTimeout = 5 * time.Second

// States are those of the chain at its heights, and how its blocks begin. An app is one.
type States interface {
	CreateQueryContext(height int64, prove bool) (sdk.Context, error)
	GetConsensusParams(ctx sdk.Context) cmtproto.ConsensusParams
	// BeginBlocker runs for a trace too, on a branch that is dropped, while the node runs other blocks.
	BeginBlocker(ctx sdk.Context) (sdk.BeginBlock, error)
}

// replayer runs fires again.
type replayer struct {
	states States
	evm    *evmkeeper.Keeper
}

// before is the state that a fire of a block finds, as near as can be had: the one before the block, on which the
// block has begun again, and its Ethereum transactions have run again. Transactions of the SDK, fees and charges are
// not there, nor what comes before begin blockers: an upgrade that ran again could write its plan to the node's disk.
//
// A chain's first block has no state before it: a genesis is not kept as one. An app takes height 0 for the latest.
func (r replayer) before(
	block *coretypes.ResultBlock, commit abci.CommitInfo, own []*evmtypes.MsgEthereumTx,
) (sdk.Context, error) {
	header := &block.Block.Header
	if header.Height <= 1 {
		return sdk.Context{}, fmt.Errorf("block %d has no state before it: want a fire of a later block", header.Height)
	}
	ctx, err := r.states.CreateQueryContext(header.Height-1, false)
	if err != nil {
		return ctx, fmt.Errorf("the state before block %d: %w", header.Height, err)
	}
	ctx = r.begun(ctx, block, commit)
	if _, err := r.states.BeginBlocker(ctx); err != nil {
		return ctx, fmt.Errorf("the beginning of block %d: %w", header.Height, err)
	}
	cfg, err := r.evm.EVMConfig(ctx, sdk.ConsAddress(header.ProposerAddress))
	if err != nil {
		return ctx, err
	}
	for i, tx := range own {
		msg := tx.AsMessage(cfg.BaseFee)
		run := ctx.WithGasMeter(evmtypes.NewInfiniteGasMeterWithLimit(msg.GasLimit)).WithEventManager(sdk.NewEventManager())
		txConfig := statedb.NewTxConfig(tx.Hash(), uint(i), 0)
		// One that can't run again changes nothing, as in cosmos/evm's traces.
		_, _ = r.evm.ApplyMessageWithConfig(run, statedb.New(run, r.evm, txConfig), *msg, nil, true, false, cfg, txConfig, false, nil)
	}
	return ctx, nil
}

// begun is the context of a block, as the SDK makes it for begin blockers, on the state of a query. The store charges
// nothing.
func (r replayer) begun(ctx sdk.Context, block *coretypes.ResultBlock, commit abci.CommitInfo) sdk.Context {
	header, hash := &block.Block.Header, block.BlockID.Hash
	evidence := block.Block.Evidence.Evidence.ToABCI()
	return ctx.WithConsensusParams(r.states.GetConsensusParams(ctx)).
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

// TraceTransaction implements backend.EVMBackend.
func (b *fireBackend) TraceTransaction(hash common.Hash, config *rpctypes.TraceConfig) (any, error) {
	fire, block, err := b.client.Fire(b.Ctx, hash)
	if err != nil {
		return nil, err
	}
	if fire == nil {
		return b.Backend.TraceTransaction(hash, config)
	}
	traces, err := b.traceFires(block, config, &hash)
	if err != nil {
		return nil, err
	}
	if traces[0].Error != "" {
		return nil, errors.New(traces[0].Error)
	}
	return traces[0].Result, nil
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
	fires, err := b.traceFires(own, config, nil)
	return append(traces, fires...), err
}

// traceFires runs the fires of a block again, one after the other, and traces all, or the one with a hash.
func (b *fireBackend) traceFires(block *coretypes.ResultBlock, config *rpctypes.TraceConfig, only *common.Hash) (traces []*evmtypes.TxTraceResult, err error) {
	fires, err := b.client.FiresOf(b.Ctx, block.Block.Height)
	if err != nil || len(fires) == 0 {
		return nil, err
	}
	results, err := b.plain.CometBlockResultByNumber(&block.Block.Height)
	if err != nil {
		return nil, err
	}
	commit, err := b.client.commitOf(b.Ctx, block.Block)
	if err != nil {
		return nil, err
	}
	own := b.plain.EthMsgsFromCometBlock(block, results)
	ctx, missing := b.replay.before(block, commit, own)
	for i := range fires {
		f := &fires[i]
		again := func(hooks *tracing.Hooks) error {
			if missing != nil {
				return missing
			}
			return evmbinding.Replay(ctx, b.replay.evm, f.From, f.Tx, hooks, !f.Failed())
		}
		if only != nil && f.Hash != *only {
			_ = again(nil) // One that can't run again changes nothing.
			continue
		}
		trace := &evmtypes.TxTraceResult{}
		if trace.Result, err = traced(config, &tracers.Context{
			BlockHash: common.BytesToHash(block.BlockID.Hash), BlockNumber: big.NewInt(block.Block.Height), TxIndex: len(own) + i, TxHash: f.Hash,
		}, f, again); err != nil {
			trace = &evmtypes.TxTraceResult{Error: err.Error()}
		}
		traces = append(traces, trace)
		if only != nil {
			return traces, nil
		}
	}
	return traces, nil
}

// traced makes the tracer that a request names, runs a fire with it, and returns what it found.
func traced(
	config *rpctypes.TraceConfig, at *tracers.Context, fire *Fire, run func(*tracing.Hooks) error,
) (json.RawMessage, error) {
	if config == nil {
		config = &rpctypes.TraceConfig{}
	}
	if config.Limit < 0 {
		return nil, fmt.Errorf("limit %d: want none or one above 0", config.Limit)
	}
	timeout := traceTimeout
	if config.Timeout != "" {
		var err error
		if timeout, err = time.ParseDuration(config.Timeout); err != nil {
			return nil, fmt.Errorf("timeout: %w", err)
		}
	}
	structured := logger.NewStructLogger(&logger.Config{
		EnableMemory: config.EnableMemory, DisableStorage: config.DisableStorage, DisableStack: config.DisableStack,
		EnableReturnData: config.EnableReturnData, Limit: int(config.Limit),
	})
	tracer := &tracers.Tracer{Hooks: structured.Hooks(), GetResult: structured.GetResult, Stop: structured.Stop}
	if config.Tracer != "" {
		var err error
		if tracer, err = tracers.DefaultDirectory.New(config.Tracer, at, config.TracerConfig, evmtypes.GetEthChainConfig()); err != nil {
			return nil, err
		}
	}
	late := time.AfterFunc(timeout, func() { tracer.Stop(errors.New("execution timeout")) })
	defer late.Stop()
	if err := run(reported(*tracer.Hooks, fire)); err != nil {
		return nil, err
	}
	return tracer.GetResult()
}

// reported are the hooks of a tracer that sees a fire fail which did, where the call by itself succeeds: one of an
// address without code, or one that wrote more bytes than its limit. The gas is then that of the receipt.
func reported(hooks tracing.Hooks, fire *Fire) *tracing.Hooks {
	if exit := hooks.OnExit; exit != nil && fire.Failed() {
		hooks.OnExit = func(depth int, output []byte, gasUsed uint64, err error, reverted bool) {
			if depth == 0 && err == nil {
				output, err, reverted = nil, errors.New(fire.Response.VmError), true
			}
			exit(depth, output, gasUsed, err, reverted)
		}
	}
	if end := hooks.OnTxEnd; end != nil {
		hooks.OnTxEnd = func(receipt *ethtypes.Receipt, err error) {
			if fire.Failed() && err == nil {
				receipt = &ethtypes.Receipt{GasUsed: fire.Response.GasUsed}
			}
			// A tracer takes an error here for a transaction that could not run, and states no gas then.
			end(receipt, nil)
		}
	}
	return &hooks
}
