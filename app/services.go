package app

import (
	"github.com/grpc-ecosystem/grpc-gateway/runtime"

	"github.com/cosmos/cosmos-sdk/client"
	"github.com/cosmos/cosmos-sdk/client/grpc/cmtservice"
	"github.com/cosmos/cosmos-sdk/client/grpc/node"
	"github.com/cosmos/cosmos-sdk/server"
	"github.com/cosmos/cosmos-sdk/server/api"
	"github.com/cosmos/cosmos-sdk/server/config"
	authtx "github.com/cosmos/cosmos-sdk/x/auth/tx"
)

// RegisterAPIRoutes registers REST for all that gRPC serves, and what describes it if that is wanted.
func (app *App) RegisterAPIRoutes(server *api.Server, apiConfig config.APIConfig) {
	runtime.WithProtoErrorHandler(explainParameters)(server.GRPCGatewayRouter)
	authtx.RegisterGRPCGatewayRoutes(server.ClientCtx, server.GRPCGatewayRouter)
	cmtservice.RegisterGRPCGatewayRoutes(server.ClientCtx, server.GRPCGatewayRouter)
	node.RegisterGRPCGatewayRoutes(server.ClientCtx, server.GRPCGatewayRouter)
	app.basics.RegisterGRPCGatewayRoutes(server.ClientCtx, server.GRPCGatewayRouter)
	if apiConfig.Swagger {
		if err := registerSwagger(server.Router); err != nil {
			panic(err)
		}
	}
}

// RegisterTxService registers the service that simulates and broadcasts transactions.
func (app *App) RegisterTxService(clientCtx client.Context) {
	authtx.RegisterTxService(app.GRPCQueryRouter(), clientCtx, app.Simulate, app.encoding.Registry)
}

// RegisterTendermintService registers the service that answers for the node's consensus engine.
func (app *App) RegisterTendermintService(clientCtx client.Context) {
	cmtservice.RegisterTendermintService(clientCtx, app.GRPCQueryRouter(), app.encoding.Registry, server.NewCometABCIWrapper(app).Query)
}

// RegisterNodeService registers the service that answers for the node's configuration.
func (app *App) RegisterNodeService(clientCtx client.Context, cfg config.Config) {
	node.RegisterNodeService(clientCtx, app.GRPCQueryRouter(), cfg)
}
