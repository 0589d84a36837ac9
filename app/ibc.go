package app

import (
	"github.com/CosmWasm/wasmd/x/wasm"
	wasmkeeper "github.com/CosmWasm/wasmd/x/wasm/keeper"
	wasmtypes "github.com/CosmWasm/wasmd/x/wasm/types"
	icacontroller "github.com/cosmos/ibc-go/v10/modules/apps/27-interchain-accounts/controller"
	icacontrollerkeeper "github.com/cosmos/ibc-go/v10/modules/apps/27-interchain-accounts/controller/keeper"
	icacontrollertypes "github.com/cosmos/ibc-go/v10/modules/apps/27-interchain-accounts/controller/types"
	icahost "github.com/cosmos/ibc-go/v10/modules/apps/27-interchain-accounts/host"
	icahostkeeper "github.com/cosmos/ibc-go/v10/modules/apps/27-interchain-accounts/host/keeper"
	icahosttypes "github.com/cosmos/ibc-go/v10/modules/apps/27-interchain-accounts/host/types"
	ibccallbacks "github.com/cosmos/ibc-go/v10/modules/apps/callbacks"
	"github.com/cosmos/ibc-go/v10/modules/apps/transfer"
	transferkeeper "github.com/cosmos/ibc-go/v10/modules/apps/transfer/keeper"
	transfertypes "github.com/cosmos/ibc-go/v10/modules/apps/transfer/types"
	transferv2 "github.com/cosmos/ibc-go/v10/modules/apps/transfer/v2"
	porttypes "github.com/cosmos/ibc-go/v10/modules/core/05-port/types"
	ibcapi "github.com/cosmos/ibc-go/v10/modules/core/api"
	ibcexported "github.com/cosmos/ibc-go/v10/modules/core/exported"
	ibckeeper "github.com/cosmos/ibc-go/v10/modules/core/keeper"
	ibctm "github.com/cosmos/ibc-go/v10/modules/light-clients/07-tendermint"
)

// IBCKeepers are those of the modules that speak to other chains.
type IBCKeepers struct {
	IBC           *ibckeeper.Keeper
	Transfer      transferkeeper.Keeper
	ICAController icacontrollerkeeper.Keeper
	ICAHost       icahostkeeper.Keeper
	// Tendermint is the client of chains that run on CometBFT, the only kind of client that the chain has.
	Tendermint ibctm.LightClientModule
}

// wireIBCKeepers makes the keepers of IBC. None has parameters of the old kind, since the chain never had x/params.
func (app *App) wireIBCKeepers(authority string) {
	cdc, router, k := app.encoding.Codec, app.MsgServiceRouter(), &app.Keepers
	k.IBC = ibckeeper.NewKeeper(cdc, app.store(ibcexported.StoreKey), nil, k.Upgrade, authority)
	channels := k.IBC.ChannelKeeper
	k.Transfer = transferkeeper.NewKeeper(cdc, app.store(transfertypes.StoreKey), nil, channels, channels, router, k.Accounts, k.Bank, authority)
	k.ICAController = icacontrollerkeeper.NewKeeper(cdc, app.store(icacontrollertypes.StoreKey), nil, channels, channels, router, authority)
	k.ICAHost = icahostkeeper.NewKeeper(cdc, app.store(icahosttypes.StoreKey), nil, channels, channels, k.Accounts, router,
		app.GRPCQueryRouter(), authority)
	k.Tendermint = ibctm.NewLightClientModule(cdc, k.IBC.ClientKeeper.GetStoreProvider())
	k.IBC.ClientKeeper.AddRoute(ibctm.ModuleName, &k.Tendermint)
}

// wireIBCRoutes says which module serves which port. Contracts have ports of their own, and learn what became of packets
// that they sent through transfers and interchain accounts.
func (app *App) wireIBCRoutes() {
	k := &app.Keepers
	channels := k.IBC.ChannelKeeper
	contracts := wasm.NewIBCHandler(k.Wasm, channels, k.Transfer, channels)
	controller := ibccallbacks.NewIBCMiddleware(icacontroller.NewIBCMiddleware(k.ICAController), channels, contracts, wasm.DefaultMaxIBCCallbackGas)
	k.ICAController.WithICS4Wrapper(controller)
	transfers := ibccallbacks.NewIBCMiddleware(transfer.NewIBCModule(k.Transfer), channels, contracts, wasm.DefaultMaxIBCCallbackGas)
	k.Transfer.WithICS4Wrapper(transfers)

	k.IBC.SetRouter(porttypes.NewRouter().
		AddRoute(transfertypes.ModuleName, transfers).
		AddRoute(wasmtypes.ModuleName, contracts).
		AddRoute(icacontrollertypes.SubModuleName, controller).
		AddRoute(icahosttypes.SubModuleName, icahost.NewIBCModule(k.ICAHost)))
	k.IBC.SetRouterV2(ibcapi.NewRouter().
		AddRoute(transfertypes.PortID, transferv2.NewIBCModule(k.Transfer)).
		AddPrefixRoute(wasmkeeper.PortIDPrefixV2, wasmkeeper.NewIBC2Handler(k.Wasm)))
}
