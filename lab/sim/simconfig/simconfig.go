// Package simconfig makes the config of a simulated market of a chain's config.
package simconfig

import (
	"github.com/cosmos-timers/timers/lab/scenario"
	"github.com/cosmos-timers/timers/lab/sim/market"
	"github.com/cosmos-timers/timers/lab/sim/spec"
	"github.com/cosmos-timers/timers/x/timers/policies/auction"
	"github.com/cosmos-timers/timers/x/timers/policies/score"
	"github.com/cosmos-timers/timers/x/timers/policies/tip"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// Of is what a market takes from a chain's config.
func Of(c *types.TimerConfig) market.Config {
	tips := types.ParamsOf[tip.Params](c)
	return market.Config{
		Policy: names[c.Policy], Lane: c.LaneCapacity(), MaxFires: c.MaxFiresPerBlock, CandidateWindow: c.CandidateWindow,
		OverheadCycles: c.OverheadCyclesPerBlock, RemovalCycles: c.GcCyclesPerBlock,
		CycleBasefee: c.CycleBasefee.LegacyDec, CellBasefee: c.CellBasefee.LegacyDec,
		MinGasLimit: c.MinGasLimit, MaxCycles: c.MaxCyclesPerFire, MaxCyclesAuction: c.Eip1559.MaxCyclesPerFireAuction,
		CellLimit: c.CellLimit(), FairnessBlocks: c.FairnessWindowBlocks, ByDeployer: c.FairnessUnit == types.UnitDeployer,
		Weights: c.WeightBounds(), MedianSmoothing: c.MedianSmoothing.LegacyDec,
		Eip1559: c.Eip1559.Rules(c), Auction: auction.RulesOf(types.ParamsOf[auction.Params](c), nil), Score: score.RulesOf(types.ParamsOf[score.Params](c)),
		Tip: tip.RulesOf(c), TipWeights: tip.WeightsOf(tips), TipEpochBlocks: tips.EpochBlocks,
	}
}

var names = map[types.Policy]string{
	types.PolicyFIFO: market.FIFO, types.PolicyEIP1559: market.EIP1559, types.PolicyAuction: market.Auction,
	types.PolicyScore: market.Score, types.PolicyTip: market.Tip,
}

// Read implements spec.Configure with every field of a TimerConfig, from the module's defaults on.
func Read(changes []spec.Change) (market.Config, error) {
	config := types.DefaultTimerConfig("utmr")
	for _, change := range changes {
		if err := scenario.ApplyConfig(&config, change.Fields, change.Path); err != nil {
			return market.Config{}, err
		}
	}
	return Of(&config), nil
}
