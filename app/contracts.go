package app

import (
	"fmt"

	"github.com/CosmWasm/wasmd/x/wasm"
	wasmkeeper "github.com/CosmWasm/wasmd/x/wasm/keeper"
	wasmtypes "github.com/CosmWasm/wasmd/x/wasm/types"
	cmtproto "github.com/cometbft/cometbft/proto/tendermint/types"
	ibcante "github.com/cosmos/ibc-go/v10/modules/core/ante"
	"github.com/spf13/cast"

	corestore "cosmossdk.io/core/store"

	"github.com/cosmos/cosmos-sdk/client/flags"
	servertypes "github.com/cosmos/cosmos-sdk/server/types"
	sdk "github.com/cosmos/cosmos-sdk/types"
	"github.com/cosmos/cosmos-sdk/x/auth/ante"
	distributionkeeper "github.com/cosmos/cosmos-sdk/x/distribution/keeper"

	"github.com/cosmos-timers/timers/wasmbinding"
	"github.com/cosmos-timers/timers/x/timers/client/restart"
)

// Capabilities are what contracts may require of the chain: all of the VM's, and timers.
func Capabilities() []string {
	return append(wasmkeeper.BuiltInCapabilities(), wasmbinding.Capability)
}

// newWasmKeeper makes the keeper of contracts, on their store. Their code is stored in wasm/ below the node's home,
// which one process at a time may use.
func (app *App) newWasmKeeper(
	store corestore.KVStoreService, appOpts servertypes.AppOptions, authority string, options ...wasmkeeper.Option,
) *wasmkeeper.Keeper {
	config, err := wasm.ReadNodeConfig(appOpts)
	if err != nil {
		panic(fmt.Errorf("[wasm] of app.toml: %w", err))
	}
	home := cast.ToString(appOpts.Get(flags.FlagHome))
	if home == "" {
		panic(fmt.Errorf("contracts need the node's home: state --%s", flags.FlagHome))
	}
	k := &app.Keepers
	keeper := wasmkeeper.NewKeeper(app.encoding.Codec, store, k.Accounts, k.Bank, k.Staking,
		distributionkeeper.NewQuerier(k.Distribution), k.IBC.ChannelKeeper, k.IBC.ChannelKeeper, k.IBC.ChannelKeeperV2, k.Transfer,
		app.MsgServiceRouter(), app.GRPCQueryRouter(), home, config, wasmtypes.VMConfig{}, Capabilities(), authority,
		append(wasmbinding.Options(app.encoding.Codec, app.GRPCQueryRouter()), options...)...)
	return &keeper
}

// wireAnte sets what a transaction passes before its messages run: the SDK's own decorators, and those of x/wasm among
// them, which a contract's gas, the gas of simulations and the position of its transaction come from, and that of IBC.
func (app *App) wireAnte(appOpts servertypes.AppOptions) error {
	config, err := wasm.ReadNodeConfig(appOpts)
	if err != nil {
		return err
	}
	k := &app.Keepers
	app.SetAnteHandler(restart.Ante(app, sdk.ChainAnteDecorators(
		ante.NewSetUpContextDecorator(),
		wasmkeeper.NewLimitSimulationGasDecorator(config.SimulationGasLimit),
		wasmkeeper.NewCountTXDecorator(app.store(wasmtypes.StoreKey)),
		wasmkeeper.NewGasRegisterDecorator(k.Wasm.GetGasRegister()),
		wasmkeeper.NewTxContractsDecorator(),
		ante.NewExtensionOptionsDecorator(nil),
		ante.NewValidateBasicDecorator(),
		ante.NewTxTimeoutHeightDecorator(),
		ante.NewValidateMemoDecorator(k.Accounts),
		ante.NewConsumeGasForTxSizeDecorator(k.Accounts),
		ante.NewDeductFeeDecorator(k.Accounts, k.Bank, k.Feegrant, nil),
		ante.NewSetPubKeyDecorator(k.Accounts),
		ante.NewValidateSigCountDecorator(k.Accounts),
		ante.NewSigGasConsumeDecorator(k.Accounts, ante.DefaultSigVerificationGasConsumer),
		ante.NewSigVerificationDecorator(k.Accounts, app.encoding.TxConfig.SignModeHandler()),
		ante.NewIncrementSequenceDecorator(k.Accounts),
		// A relayer that comes second pays nothing for packets that another one has brought.
		ibcante.NewRedundantRelayDecorator(k.IBC),
	)))
	return nil
}

// wireSnapshots adds the contracts' code to state-sync snapshots, since it is not stored in the application state.
func (app *App) wireSnapshots() error {
	manager := app.SnapshotManager()
	if manager == nil {
		return nil
	}
	return manager.RegisterExtensions(wasmkeeper.NewWasmSnapshotter(app.CommitMultiStore(), app.Wasm))
}

// pinContracts loads pinned contracts into memory, which state says and the VM forgets.
func (app *App) pinContracts() error {
	return app.Wasm.InitializePinnedCodes(app.NewUncachedContext(true, cmtproto.Header{}))
}
