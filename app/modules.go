package app

import (
	"encoding/json"

	"github.com/CosmWasm/wasmd/x/wasm"
	wasmtypes "github.com/CosmWasm/wasmd/x/wasm/types"
	ica "github.com/cosmos/ibc-go/v10/modules/apps/27-interchain-accounts"
	icatypes "github.com/cosmos/ibc-go/v10/modules/apps/27-interchain-accounts/types"
	"github.com/cosmos/ibc-go/v10/modules/apps/transfer"
	transfertypes "github.com/cosmos/ibc-go/v10/modules/apps/transfer/types"
	ibc "github.com/cosmos/ibc-go/v10/modules/core"
	ibcexported "github.com/cosmos/ibc-go/v10/modules/core/exported"
	ibctm "github.com/cosmos/ibc-go/v10/modules/light-clients/07-tendermint"

	"cosmossdk.io/core/genesis"
	"cosmossdk.io/x/evidence"
	evidencetypes "cosmossdk.io/x/evidence/types"
	"cosmossdk.io/x/feegrant"
	feegrantmodule "cosmossdk.io/x/feegrant/module"
	"cosmossdk.io/x/upgrade"
	upgradetypes "cosmossdk.io/x/upgrade/types"

	"github.com/cosmos/cosmos-sdk/baseapp"
	"github.com/cosmos/cosmos-sdk/codec"
	"github.com/cosmos/cosmos-sdk/types/module"
	"github.com/cosmos/cosmos-sdk/x/auth"
	authsims "github.com/cosmos/cosmos-sdk/x/auth/simulation"
	authtypes "github.com/cosmos/cosmos-sdk/x/auth/types"
	"github.com/cosmos/cosmos-sdk/x/auth/vesting"
	vestingtypes "github.com/cosmos/cosmos-sdk/x/auth/vesting/types"
	"github.com/cosmos/cosmos-sdk/x/authz"
	authzmodule "github.com/cosmos/cosmos-sdk/x/authz/module"
	"github.com/cosmos/cosmos-sdk/x/bank"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"
	"github.com/cosmos/cosmos-sdk/x/consensus"
	consensustypes "github.com/cosmos/cosmos-sdk/x/consensus/types"
	"github.com/cosmos/cosmos-sdk/x/distribution"
	distributiontypes "github.com/cosmos/cosmos-sdk/x/distribution/types"
	"github.com/cosmos/cosmos-sdk/x/genutil"
	genutiltypes "github.com/cosmos/cosmos-sdk/x/genutil/types"
	"github.com/cosmos/cosmos-sdk/x/gov"
	govtypes "github.com/cosmos/cosmos-sdk/x/gov/types"
	"github.com/cosmos/cosmos-sdk/x/group"
	groupmodule "github.com/cosmos/cosmos-sdk/x/group/module"
	"github.com/cosmos/cosmos-sdk/x/mint"
	minttypes "github.com/cosmos/cosmos-sdk/x/mint/types"
	"github.com/cosmos/cosmos-sdk/x/slashing"
	slashingtypes "github.com/cosmos/cosmos-sdk/x/slashing/types"
	"github.com/cosmos/cosmos-sdk/x/staking"
	stakingtypes "github.com/cosmos/cosmos-sdk/x/staking/types"

	"github.com/cosmos-timers/timers/x/timers"
	timersauthz "github.com/cosmos-timers/timers/x/timers/authz"
	timerstypes "github.com/cosmos-timers/timers/x/timers/types"
)

// Orders in which modules run. Each entry that must stand where it stands says why.
var (
	preBlockers = []string{upgradetypes.ModuleName, authtypes.ModuleName}

	beginBlockers = []string{
		// A config of timers accepted in the block before is in force for all that follows.
		timerstypes.ModuleName,
		// Distribution shares out what mint made; slashing comes after it, so that nothing is left in the fee pool.
		minttypes.ModuleName, distributiontypes.ModuleName, slashingtypes.ModuleName, evidencetypes.ModuleName,
		stakingtypes.ModuleName, genutiltypes.ModuleName, authz.ModuleName,
		// Clients of this chain's next version learn of it in the last block of the old one.
		ibcexported.ModuleName,
	}

	endBlockers = []string{
		govtypes.ModuleName, stakingtypes.ModuleName, genutiltypes.ModuleName, feegrant.ModuleName, group.ModuleName,
		// Timers run after all other modules, so that they see the effects of passed proposals (x/timers/README.md, "5.
		// End Block").
		timerstypes.ModuleName,
	}

	genesisOrder = []string{
		consensustypes.ModuleName, authtypes.ModuleName, banktypes.ModuleName, distributiontypes.ModuleName,
		stakingtypes.ModuleName, slashingtypes.ModuleName, govtypes.ModuleName, minttypes.ModuleName,
		evidencetypes.ModuleName, authz.ModuleName, feegrant.ModuleName, upgradetypes.ModuleName, vestingtypes.ModuleName,
		group.ModuleName,
		// Contracts have ports of IBC, and own timers.
		ibcexported.ModuleName, ibctm.ModuleName, transfertypes.ModuleName, icatypes.ModuleName,
		wasmtypes.ModuleName, timerstypes.ModuleName,
		// Genesis transactions need all others in place.
		genutiltypes.ModuleName,
	}
)

// wireModules makes the modules and registers their services.
func (app *App) wireModules() error {
	app.describe(app.makeModules(&app.Keepers, app, app.MsgServiceRouter()))
	app.modules.SetOrderPreBlockers(preBlockers...)
	app.modules.SetOrderBeginBlockers(beginBlockers...)
	app.modules.SetOrderEndBlockers(endBlockers...)
	app.modules.SetOrderInitGenesis(genesisOrder...)
	app.modules.SetOrderExportGenesis(genesisOrder...)
	app.configurator = module.NewConfigurator(app.encoding.Codec, app.MsgServiceRouter(), app.GRPCQueryRouter())
	return app.modules.RegisterServices(app.configurator)
}

// makeModules makes the modules on their keepers.
func (d *Description) makeModules(k *Keepers, deliverer genesis.TxHandler, router *baseapp.MsgServiceRouter) *module.Manager {
	cdc, registry := d.encoding.Codec, d.encoding.Registry
	return module.NewManager(
		genutil.NewAppModule(k.Accounts, k.Staking, deliverer, d.encoding.TxConfig),
		auth.NewAppModule(cdc, k.Accounts, authsims.RandomGenesisAccounts, nil),
		vesting.NewAppModule(k.Accounts, k.Bank),
		bank.NewAppModule(cdc, k.Bank, k.Accounts, nil),
		feegrantmodule.NewAppModule(cdc, k.Accounts, k.Bank, k.Feegrant, registry),
		gov.NewAppModule(cdc, &k.Gov, k.Accounts, k.Bank, nil),
		mint.NewAppModule(cdc, k.Mint, k.Accounts, nil, nil),
		slashing.NewAppModule(cdc, k.Slashing, k.Accounts, k.Bank, k.Staking, nil, registry),
		distribution.NewAppModule(cdc, k.Distribution, k.Accounts, k.Bank, k.Staking, nil),
		staking.NewAppModule(cdc, k.Staking, k.Accounts, k.Bank, nil),
		upgrade.NewAppModule(k.Upgrade, k.Accounts.AddressCodec()),
		evidence.NewAppModule(k.Evidence),
		timersauthz.NewAppModule(authzmodule.NewAppModule(cdc, k.Authz, k.Accounts, k.Bank, registry), k.Accounts.AddressCodec()),
		groupmodule.NewAppModule(cdc, k.Group, k.Accounts, k.Bank, registry),
		consensus.NewAppModule(cdc, k.Consensus),
		ibc.NewAppModule(k.IBC),
		ibctm.NewAppModule(k.Tendermint),
		transfer.NewAppModule(k.Transfer),
		ica.NewAppModule(&k.ICAController, &k.ICAHost),
		wasm.NewAppModule(cdc, k.Wasm, k.Staking, k.Accounts, k.Bank, router, nil),
		timers.NewAppModule(cdc, k.Timers),
	)
}

// describe takes over the modules, with the chain's own defaults, and registers their messages.
func (d *Description) describe(modules *module.Manager) {
	d.modules = modules
	d.basics = module.NewBasicManagerFromManager(modules, map[string]module.AppModuleBasic{
		genutiltypes.ModuleName: genutil.NewAppModuleBasic(genutiltypes.DefaultMessageValidator),
		govtypes.ModuleName:     gov.NewAppModuleBasic(nil),
		//nolint:errcheck // The chain was just made with x/bank's module; another one must not start.
		banktypes.ModuleName: bankBasic{modules.Modules[banktypes.ModuleName].(bank.AppModule).AppModuleBasic},
	})
	d.basics.RegisterLegacyAminoCodec(d.encoding.Amino)
	d.basics.RegisterInterfaces(d.encoding.Registry)
}

// bankBasic is x/bank with the chain's coin described in its default genesis, so that wallets show tmr.
type bankBasic struct{ bank.AppModuleBasic }

// DefaultGenesis describes the coin.
func (bankBasic) DefaultGenesis(cdc codec.JSONCodec) json.RawMessage {
	genesis := banktypes.DefaultGenesisState()
	genesis.DenomMetadata = []banktypes.Metadata{{
		Description: "The coin of the chain: stake, fees, and what timers pay.",
		DenomUnits: []*banktypes.DenomUnit{
			{Denom: FeeDenom, Exponent: 0, Aliases: []string{"microtmr"}},
			{Denom: DisplayDenom, Exponent: DisplayExponent},
		},
		Base: FeeDenom, Display: DisplayDenom, Name: "Timer", Symbol: "TMR",
	}}
	return cdc.MustMarshalJSON(genesis)
}
