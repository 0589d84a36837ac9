package evmrpc

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"time"

	coretypes "github.com/cometbft/cometbft/rpc/core/types"
	rpctypes "github.com/cosmos/evm/rpc/types"
	evmtypes "github.com/cosmos/evm/x/vm/types"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/tracing"
	ethtypes "github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/eth/tracers"
	"github.com/ethereum/go-ethereum/eth/tracers/logger"

	"github.com/cosmos-timers/timers/evmbinding"
	"github.com/cosmos-timers/timers/evmbinding/internal/replay"
)

// traceTimeout is what a trace may take if its request states no timeout, as with cosmos/evm.
const traceTimeout = 5 * time.Second

// States are those of the chain at its heights, and how its blocks begin. An app is one: it answers
// CreateQueryContext, GetConsensusParams, and BeginBlocker, which runs for a trace too, on a branch that is dropped,
// while the node runs other blocks.
type States = replay.States

// replayer runs fires again.
type replayer struct{ replay.Blocks }

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
	ctx, missing := b.replay.Before(block, commit, own)
	for i := range fires {
		f := &fires[i]
		again := func(hooks *tracing.Hooks) error {
			if missing != nil {
				return missing
			}
			return evmbinding.Replay(ctx, b.replay.EVM, f.From, f.Tx, hooks, !f.Failed())
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
