package timers

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	protov1 "github.com/golang/protobuf/proto" //nolint:staticcheck // the gateway looks in its registry
	gwruntime "github.com/grpc-ecosystem/grpc-gateway/runtime"
	"github.com/spf13/cobra"

	autocliv1 "cosmossdk.io/api/cosmos/autocli/v1"
	"cosmossdk.io/client/v2/autocli"
	"cosmossdk.io/core/appmodule"

	"github.com/cosmos/cosmos-sdk/client"
	"github.com/cosmos/cosmos-sdk/codec"
	codectypes "github.com/cosmos/cosmos-sdk/codec/types"
	"github.com/cosmos/cosmos-sdk/testutil/simsx"
	sdk "github.com/cosmos/cosmos-sdk/types"
	"github.com/cosmos/cosmos-sdk/types/module"
	simtypes "github.com/cosmos/cosmos-sdk/types/simulation"

	"github.com/cosmos-timers/timers/x/timers/authz"
	"github.com/cosmos-timers/timers/x/timers/client/cli"
	"github.com/cosmos-timers/timers/x/timers/genesis"
	"github.com/cosmos-timers/timers/x/timers/keeper"
	"github.com/cosmos-timers/timers/x/timers/simulation"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// ConsensusVersion grows with every change of state that needs a migration, which RegisterServices then registers.
const ConsensusVersion = 1

var (
	_ module.AppModuleBasic     = AppModule{}
	_ module.HasGenesis         = AppModule{}
	_ module.HasServices        = AppModule{}
	_ appmodule.AppModule       = AppModule{}
	_ appmodule.HasBeginBlocker = AppModule{}
	_ appmodule.HasEndBlocker   = AppModule{}

	_ autocli.HasAutoCLIConfig      = AppModule{}
	_ autocli.HasCustomTxCommand    = AppModule{}
	_ autocli.HasCustomQueryCommand = AppModule{}
)

// AppModule is the module as an app wires it.
type AppModule struct {
	cdc    codec.Codec
	keeper *keeper.Keeper
}

// NewAppModule returns the module.
func NewAppModule(cdc codec.Codec, k *keeper.Keeper) AppModule { return AppModule{cdc, k} }

// IsOnePerModuleType implements depinject.OnePerModuleType.
func (AppModule) IsOnePerModuleType() {}

// IsAppModule implements appmodule.AppModule.
func (AppModule) IsAppModule() {}

// Name returns the module's name.
func (AppModule) Name() string { return types.ModuleName }

// RegisterLegacyAminoCodec does nothing: messages are registered by their amino.name.
func (AppModule) RegisterLegacyAminoCodec(*codec.LegacyAmino) {}

// RegisterInterfaces registers the messages, and the authorization that grants them.
func (AppModule) RegisterInterfaces(registry codectypes.InterfaceRegistry) {
	types.RegisterInterfaces(registry)
	authz.RegisterInterfaces(registry)
}

// RegisterGRPCGatewayRoutes registers REST for every query.
func (AppModule) RegisterGRPCGatewayRoutes(clientCtx client.Context, mux *gwruntime.ServeMux) {
	if err := types.RegisterQueryHandlerClient(context.Background(), mux, types.NewQueryClient(clientCtx)); err != nil {
		panic(fmt.Errorf("x/timers: REST routes: %w", err))
	}
}

// RegisterServices registers the message and query servers.
func (m AppModule) RegisterServices(cfg module.Configurator) {
	types.RegisterMsgServer(cfg.MsgServer(), keeper.NewMsgServer(m.keeper))
	types.RegisterQueryServer(cfg.QueryServer(), keeper.NewQueryServer(m.keeper))
}

// DefaultGenesis returns an empty module. Unless the keeper was given a fee denom, the genesis has none, and InitGenesis
// takes it from x/staking.
func (m AppModule) DefaultGenesis(cdc codec.JSONCodec) json.RawMessage {
	// Where only commands are made, there is no keeper.
	if m.keeper == nil {
		return cdc.MustMarshalJSON(types.DefaultGenesis())
	}
	return cdc.MustMarshalJSON(m.keeper.DefaultGenesis())
}

// ValidateGenesis checks a genesis file. Where only commands are made, there is no keeper, which knows the chain's policies.
func (m AppModule) ValidateGenesis(cdc codec.JSONCodec, _ client.TxEncodingConfig, raw json.RawMessage) error {
	source, err := genesis.FromJSON(cdc, raw)
	if err != nil {
		return err
	}
	if err := source.Validate(); err != nil || m.keeper == nil {
		return err
	}
	return m.keeper.CheckConfigs(source.Head)
}

// InitGenesis starts the module's state; a chain can't start from a state that contradicts itself.
func (m AppModule) InitGenesis(ctx sdk.Context, cdc codec.JSONCodec, raw json.RawMessage) {
	source, err := genesis.FromJSON(cdc, raw)
	if err != nil {
		panic(err)
	}
	if err := m.keeper.InitGenesisFrom(ctx, source); err != nil {
		panic(err)
	}
}

// ExportGenesis exports the module's state.
func (m AppModule) ExportGenesis(ctx sdk.Context, cdc codec.JSONCodec) json.RawMessage {
	var raw bytes.Buffer
	if err := m.WriteGenesis(ctx, cdc, &raw); err != nil {
		panic(err)
	}
	return raw.Bytes()
}

// WriteGenesis writes what ExportGenesis returns, without having it in memory: for apps that export to a file. The height
// of the context is that of the last block.
func (m AppModule) WriteGenesis(ctx sdk.Context, cdc codec.JSONCodec, w io.Writer) error {
	source, err := m.keeper.Export(ctx)
	if err != nil {
		return err
	}
	source.Head.Height = types.HeightOf(ctx)
	return genesis.Write(w, cdc, source)
}

// ConsensusVersion implements module.HasConsensusVersion.
func (AppModule) ConsensusVersion() uint64 { return ConsensusVersion }

// BeginBlock puts a new config in force.
func (m AppModule) BeginBlock(ctx context.Context) error { return m.keeper.BeginBlock(ctx) }

// EndBlock fires what is due.
func (m AppModule) EndBlock(ctx context.Context) error { return m.keeper.EndBlock(ctx) }

// GetTxCmd returns the commands that AutoCLI can't generate: they convert times to heights, files to payloads and short
// ids to whole ones.
func (AppModule) GetTxCmd() *cobra.Command { return cli.NewTxCmd() }

// GetQueryCmd returns the queries that AutoCLI can't generate: a timer by its name ACTOR/ID-PREFIX, tables, and a view
// that follows the chain.
func (AppModule) GetQueryCmd() *cobra.Command { return cli.NewQueryCmd() }

// AutoCLIOptions implements autocli.HasAutoCLIConfig.
func (AppModule) AutoCLIOptions() *autocliv1.ModuleOptions { return cli.AutoCLIOptions() }

var (
	_ module.AppModuleSimulation   = AppModule{}
	_ simsx.HasWeightedOperationsX = AppModule{}
	_ simsx.HasProposalMsgsX       = AppModule{}
)

// GenerateGenesisState gives a simulated chain an empty module that charges in its bond denom.
func (AppModule) GenerateGenesisState(state *module.SimulationState) {
	state.GenState[types.ModuleName] = state.Cdc.MustMarshalJSON(types.NewGenesis(state.BondDenom))
}

// RegisterStoreDecoder lets a simulation show what two stores differ in.
func (m AppModule) RegisterStoreDecoder(decoders simtypes.StoreDecoderRegistry) {
	decoders[types.StoreKey] = simtypes.NewStoreDecoderFuncFromCollectionsSchema(m.keeper.Schema())
}

// WeightedOperations is how simulations asked before; the simulator wants the method and calls WeightedOperationsX.
func (AppModule) WeightedOperations(module.SimulationState) []simtypes.WeightedOperation { return nil }

// WeightedOperationsX registers the messages that accounts send.
func (m AppModule) WeightedOperationsX(weights simsx.WeightSource, reg simsx.Registry) {
	simulation.RegisterMsgs(m.cdc, m.keeper, weights, reg)
}

// ProposalMsgsX registers the messages that governance sends.
func (m AppModule) ProposalMsgsX(weights simsx.WeightSource, reg simsx.Registry) {
	simulation.RegisterProposals(m.cdc, m.keeper, weights, reg)
}

// The REST gateway looks for the names of enums in a registry of its own, which gogoproto does not fill: without this it
// takes numbers alone. A tier is also taken by the short name that the command line knows, tier=fast.
func init() {
	const prefix = "PRIORITY_TIER_"
	tiers := map[string]int32{}
	for number := int32(0); types.PriorityTier_name[number] != ""; number++ {
		name := types.PriorityTier_name[number]
		tiers[name] = number
		tiers[strings.ToLower(strings.TrimPrefix(name, prefix))] = number
	}
	protov1.RegisterEnum("timers.v1.PriorityTier", types.PriorityTier_name, tiers) //nolint:staticcheck // the gateway looks there
}
