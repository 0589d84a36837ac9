package evmapp

import (
	"encoding/json"
	"sync"

	cmtproto "github.com/cometbft/cometbft/proto/tendermint/types"
	evmmempool "github.com/cosmos/evm/mempool"
	evmserver "github.com/cosmos/evm/server"
	"github.com/ethereum/go-ethereum/common"

	"github.com/cosmos/cosmos-sdk/client"
	"github.com/cosmos/cosmos-sdk/client/grpc/cmtservice"
	nodeservice "github.com/cosmos/cosmos-sdk/client/grpc/node"
	"github.com/cosmos/cosmos-sdk/server"
	"github.com/cosmos/cosmos-sdk/server/api"
	"github.com/cosmos/cosmos-sdk/server/config"
	servertypes "github.com/cosmos/cosmos-sdk/server/types"
	sdkmempool "github.com/cosmos/cosmos-sdk/types/mempool"
	authtx "github.com/cosmos/cosmos-sdk/x/auth/tx"
	"github.com/cosmos/cosmos-sdk/x/staking"
)

// What a node asks of its chain.
var _ evmserver.Application = (*App)(nil)

// RegisterAPIRoutes implements servertypes.Application.
func (app *App) RegisterAPIRoutes(server *api.Server, _ config.APIConfig) {
	authtx.RegisterGRPCGatewayRoutes(server.ClientCtx, server.GRPCGatewayRouter)
	cmtservice.RegisterGRPCGatewayRoutes(server.ClientCtx, server.GRPCGatewayRouter)
	nodeservice.RegisterGRPCGatewayRoutes(server.ClientCtx, server.GRPCGatewayRouter)
	app.basics.RegisterGRPCGatewayRoutes(server.ClientCtx, server.GRPCGatewayRouter)
}

// RegisterTxService implements servertypes.Application.
func (app *App) RegisterTxService(clientCtx client.Context) {
	authtx.RegisterTxService(app.GRPCQueryRouter(), clientCtx, app.Simulate, app.registry)
}

// RegisterTendermintService implements servertypes.Application.
func (app *App) RegisterTendermintService(clientCtx client.Context) {
	cmtservice.RegisterTendermintService(clientCtx, app.GRPCQueryRouter(), app.registry, server.NewCometABCIWrapper(app).Query)
}

// RegisterNodeService implements servertypes.Application.
func (app *App) RegisterNodeService(clientCtx client.Context, config config.Config) {
	nodeservice.RegisterNodeService(clientCtx, app.GRPCQueryRouter(), config)
}

// Export is the state of the chain's modules, all if none is named, as a genesis that continues with the next height.
func (app *App) Export(modules []string) (exported servertypes.ExportedApp, err error) {
	ctx := app.NewContextLegacy(true, cmtproto.Header{ChainID: ID, Height: app.LastBlockHeight()})
	state, err := app.modules.ExportGenesisForModules(ctx, app.codec, modules)
	if err != nil {
		return exported, err
	}
	if exported.AppState, err = json.MarshalIndent(state, "", " "); err != nil {
		return exported, err
	}
	exported.Height = app.LastBlockHeight() + 1
	exported.ConsensusParams = app.GetConsensusParams(ctx)
	exported.Validators, err = staking.WriteValidators(ctx, app.Staking)
	return exported, err
}

// SetClientCtx implements evmserver.Application: the chain asks its node nothing.
func (*App) SetClientCtx(client.Context) {}

// GetMempool implements evmserver.Application. The chain has no mempool of its own, but CometBFT's.
func (*App) GetMempool() sdkmempool.ExtMempool { return (*evmmempool.ExperimentalEVMMempool)(nil) }

// RegisterPendingTxListener implements evmserver.AppWithPendingTxStream.
func (app *App) RegisterPendingTxListener(listener func(common.Hash)) { app.pending.add(listener) }

// listeners are called with the hash of each Ethereum transaction that enters the mempool. JSON-RPC adds its own when the
// node runs already.
type listeners struct {
	lock sync.RWMutex
	all  []func(common.Hash)
}

func (l *listeners) add(listener func(common.Hash)) {
	l.lock.Lock()
	defer l.lock.Unlock()
	l.all = append(l.all, listener)
}

func (l *listeners) call(hash common.Hash) {
	l.lock.RLock()
	defer l.lock.RUnlock()
	for _, listener := range l.all {
		listener(hash)
	}
}
