package evmrpc

import (
	"context"
	"slices"

	rpcclient "github.com/cometbft/cometbft/rpc/client"
	cmttypes "github.com/cometbft/cometbft/types"
	evmmempool "github.com/cosmos/evm/mempool"
	"github.com/cosmos/evm/rpc"
	"github.com/cosmos/evm/rpc/backend"
	"github.com/cosmos/evm/rpc/namespaces/ethereum/debug"
	"github.com/cosmos/evm/rpc/namespaces/ethereum/eth"
	"github.com/cosmos/evm/rpc/namespaces/ethereum/eth/filters"
	"github.com/cosmos/evm/rpc/stream"
	rpctypes "github.com/cosmos/evm/rpc/types"
	evmconfig "github.com/cosmos/evm/server/config"
	servertypes "github.com/cosmos/evm/server/types"
	evmkeeper "github.com/cosmos/evm/x/vm/keeper"
	evmtypes "github.com/cosmos/evm/x/vm/types"
	"github.com/ethereum/go-ethereum/common"
	ethtypes "github.com/ethereum/go-ethereum/core/types"
	ethrpc "github.com/ethereum/go-ethereum/rpc"

	"cosmossdk.io/log"

	"github.com/cosmos/cosmos-sdk/client"
	"github.com/cosmos/cosmos-sdk/server"

	"github.com/cosmos-timers/timers/evmbinding/internal/replay"
)

// Namespace is what a node lists behind all others in json-rpc.api of its app.toml.
const Namespace = "timers"

// Register makes the namespace known to JSON-RPC, which replaces eth and debug where the node lists these. An app's
// constructor for nodes calls it, once in a process. Fires are traced on the app's states by x/vm's keeper; a trace
// runs the app's begin blockers, which must not change what the process remembers.
func Register(states States, evm *evmkeeper.Keeper) error {
	return rpc.RegisterAPINamespace(Namespace, replayer{replay.Blocks{States: states, EVM: evm}}.apis)
}

func (r replayer) apis(
	ctx *server.Context, clientCtx client.Context, streams *stream.RPCStream, unprotected bool,
	indexer servertypes.EVMTxIndexer, mempool *evmmempool.ExperimentalEVMMempool,
) []ethrpc.API {
	config, err := evmconfig.GetConfig(ctx.Viper)
	if err != nil {
		panic(err) // As cosmos/evm does.
	}
	listed := config.JSONRPC.API
	if listed[len(listed)-1] != Namespace {
		ctx.Logger.Error("fires may be missing: want "+Namespace+" as the last namespace of json-rpc.api", "json-rpc.api", listed)
	}
	inner, ok := clientCtx.Client.(rpcclient.Client)
	if !ok {
		ctx.Logger.Error("no fires are shown: the node has no client of CometBFT")
		return nil
	}
	logger := ctx.Logger.With("module", "evmrpc")
	answering := clientCtx.WithClient(Answering{inner, clientCtx.TxConfig.TxDecoder()})
	plain := backend.NewBackend(ctx, ctx.Logger, answering, unprotected, indexer, mempool)
	shows, err := NewClient(inner, clientCtx.TxConfig, evmtypes.GetEthChainConfig().ChainID, logger)
	if err != nil {
		panic(err)
	}
	clientCtx = clientCtx.WithClient(shows).WithTxConfig(shows.TxConfig())
	if indexer != nil {
		indexer = indexed{indexer, shows}
	}
	fires := &fireBackend{backend.NewBackend(ctx, ctx.Logger, clientCtx, unprotected, indexer, mempool), plain, shows, r}
	var all []ethrpc.API
	if slices.Contains(listed, rpc.EthNamespace) {
		// A node that answers queries alone has a client that receives no events.
		if inner.IsRunning() {
			go follow(shows, streams.LogStream(), logger)
		}
		all = append(all,
			ethrpc.API{Namespace: rpc.EthNamespace, Version: "1.0", Service: eth.NewPublicAPI(ctx.Logger, fires), Public: true},
			ethrpc.API{Namespace: rpc.EthNamespace, Version: "1.0", Service: filters.NewPublicAPI(ctx.Logger, clientCtx, streams, fires), Public: true})
	}
	if slices.Contains(listed, rpc.DebugNamespace) {
		all = append(all,
			ethrpc.API{
				Namespace: rpc.DebugNamespace, Version: "1.0", Public: true,
				Service: debug.NewAPI(ctx, fires, config.JSONRPC.EnableProfiling),
			},
			ethrpc.API{Namespace: rpc.DebugNamespace, Version: "1.0", Service: &blockTraces{ctx, fires}, Public: true})
	}
	return all
}

// subscriber is the name of the subscription to blocks.
const subscriber = "timers-json-rpc"

// subscribed is how many blocks may wait.
const subscribed = 100

// follow hands the logs of fires, block by block, to those who subscribed to logs. A block that was not announced is made
// up for with the next one.
func follow(client *Client, logs *stream.Stream[*ethtypes.Log], logger log.Logger) {
	ctx := context.Background()
	blocks, err := client.Subscribe(ctx, subscriber, cmttypes.QueryForEvent(cmttypes.EventNewBlock).String(), subscribed)
	if err != nil {
		logger.Error("subscriptions get no logs of fires", "error", err.Error())
		return
	}
	var next int64
	for event := range blocks {
		block, ok := event.Data.(cmttypes.EventDataNewBlock)
		if !ok {
			continue
		}
		if next == 0 {
			next = block.Block.Height
		}
		for ; next <= block.Block.Height; next++ {
			of, err := client.LogsOf(ctx, next)
			if err != nil && next == block.Block.Height {
				logger.Info("subscriptions wait a block for logs of fires", "height", next, "error", err.Error())
				break
			}
			if err != nil {
				logger.Error("subscriptions lack logs of fires", "height", next, "error", err.Error())
			}
			logs.Add(of...)
		}
	}
}

// indexed is the node's own index of transactions, which does not know fires.
type indexed struct {
	servertypes.EVMTxIndexer
	client *Client
}

// GetByTxHash implements servertypes.EVMTxIndexer.
func (i indexed) GetByTxHash(hash common.Hash) (*servertypes.TxResult, error) {
	found, err := i.client.Find(context.Background(), hash)
	if err != nil {
		return nil, err
	}
	if found == nil {
		return i.EVMTxIndexer.GetByTxHash(hash)
	}
	return rpctypes.ParseTxIndexerResult(found, nil, func(txs *rpctypes.ParsedTxs) *rpctypes.ParsedTx { return txs.GetTxByHash(hash) })
}
