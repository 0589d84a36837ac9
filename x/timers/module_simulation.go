package timers

import (
	"github.com/cosmos/cosmos-sdk/testutil/simsx"
	"github.com/cosmos/cosmos-sdk/types/module"
	simtypes "github.com/cosmos/cosmos-sdk/types/simulation"

	"github.com/cosmos-timers/timers/x/timers/simulation"
	"github.com/cosmos-timers/timers/x/timers/types"
)

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
