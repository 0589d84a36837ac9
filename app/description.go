package app

import (
	"encoding/json"

	wasmkeeper "github.com/CosmWasm/wasmd/x/wasm/keeper"
	ibckeeper "github.com/cosmos/ibc-go/v10/modules/core/keeper"

	"cosmossdk.io/client/v2/autocli"
	"cosmossdk.io/core/appmodule"

	"github.com/cosmos/cosmos-sdk/client"
	"github.com/cosmos/cosmos-sdk/codec"
	"github.com/cosmos/cosmos-sdk/codec/address"
	codectypes "github.com/cosmos/cosmos-sdk/codec/types"
	"github.com/cosmos/cosmos-sdk/runtime"
	runtimeservices "github.com/cosmos/cosmos-sdk/runtime/services"
	sdk "github.com/cosmos/cosmos-sdk/types"
	"github.com/cosmos/cosmos-sdk/types/module"
	authkeeper "github.com/cosmos/cosmos-sdk/x/auth/keeper"
	authtypes "github.com/cosmos/cosmos-sdk/x/auth/types"
	govtypes "github.com/cosmos/cosmos-sdk/x/gov/types"

	"github.com/cosmos-timers/timers/x/timers/actors"
	timerskeeper "github.com/cosmos-timers/timers/x/timers/keeper"
	"github.com/cosmos-timers/timers/x/timers/policies/agents"
	"github.com/cosmos-timers/timers/x/timers/policies/guests"
)

// Description is what the modules say of themselves without state: codecs, default genesis, commands.
type Description struct {
	encoding Encoding
	modules  *module.Manager
	basics   module.BasicManager
}

// Describe makes the description alone, for command lines: an application takes many times as long to make. Its modules
// must not be run.
func Describe() *Description {
	d := &Description{encoding: newEncoding()}
	cdc, store, addresses := d.encoding.Codec, runtime.NewKVStoreService(nil), address.NewBech32Codec(Bech32Prefix)
	authority := authtypes.NewModuleAddress(govtypes.ModuleName).String()
	// These keepers are asked when commands and default genesis are made. The others stay empty.
	var k Keepers
	k.Accounts = authkeeper.NewAccountKeeper(cdc, store, authtypes.ProtoBaseAccount, modulePermissions, addresses, Bech32Prefix, authority)
	k.IBC, k.Wasm = &ibckeeper.Keeper{}, &wasmkeeper.Keeper{}
	k.Timers = timerskeeper.NewKeeper(cdc, store, addresses, k.Accounts, k.Bank, actors.NewRouter(), authority,
		timerskeeper.WithFeeDenom(FeeDenom), timerskeeper.WithPolicy(guests.All()...), timerskeeper.WithAgents(agents.New))
	d.describe(d.makeModules(&k, nil, nil))
	return d
}

// AppCodec returns the codec.
func (d *Description) AppCodec() codec.Codec { return d.encoding.Codec }

// InterfaceRegistry returns the registry of messages.
func (d *Description) InterfaceRegistry() codectypes.InterfaceRegistry { return d.encoding.Registry }

// LegacyAmino returns the amino codec, which key files still need.
func (d *Description) LegacyAmino() *codec.LegacyAmino { return d.encoding.Amino }

// TxConfig returns how transactions are built and signed.
func (d *Description) TxConfig() client.TxConfig { return d.encoding.TxConfig }

// Basics returns the modules as far as they need no state.
func (d *Description) Basics() module.BasicManager { return d.basics }

// DefaultGenesis returns an empty chain.
func (d *Description) DefaultGenesis() map[string]json.RawMessage {
	return d.basics.DefaultGenesis(d.encoding.Codec)
}

// AutoCLIOptions returns what makes a command of every RPC.
func (d *Description) AutoCLIOptions() autocli.AppOptions {
	modules := make(map[string]appmodule.AppModule, len(d.modules.Modules))
	for name, m := range d.modules.Modules {
		if appModule, ok := m.(appmodule.AppModule); ok {
			modules[name] = appModule
		}
	}
	config := sdk.GetConfig()
	return autocli.AppOptions{
		Modules:               modules,
		ModuleOptions:         runtimeservices.ExtractAutoCLIOptions(d.modules.Modules),
		AddressCodec:          address.NewBech32Codec(config.GetBech32AccountAddrPrefix()),
		ValidatorAddressCodec: address.NewBech32Codec(config.GetBech32ValidatorAddrPrefix()),
		ConsensusAddressCodec: address.NewBech32Codec(config.GetBech32ConsensusAddrPrefix()),
	}
}
