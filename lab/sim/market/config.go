package market

import (
	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/lab/sim/workload"
	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/market/auction"
	"github.com/cosmos-timers/timers/x/timers/market/score"
	"github.com/cosmos-timers/timers/x/timers/market/tip"
)

// The policies of a Config.
const (
	FIFO    = "fifo"
	EIP1559 = "eip1559"
	Auction = "auction"
	Score   = "score"
	Tip     = "tip"
)

// Policies are their names.
var Policies = []string{FIFO, EIP1559, Auction, Score, Tip}

// Config is what a market takes from a chain's config: the rules of each policy and the bounds of a block. It needs
// nothing of the SDK, so that a browser runs the same market. Package simconfig makes one of a TimerConfig.
type Config struct {
	// Policy in force, one of Policies.
	Policy string
	Lane   market.Capacity
	// MaxFires bounds the fires of a block; 0 means no bound. CandidateWindow bounds the ready timers that it compares.
	MaxFires, CandidateWindow uint32
	// OverheadCycles and RemovalCycles bound the work of a block that no timer is billed for.
	OverheadCycles, RemovalCycles uint64
	// CycleBasefee and CellBasefee are the chain's own prices, in fee denom.
	CycleBasefee, CellBasefee math.LegacyDec
	// MinGasLimit and MaxCycles bound the gas limit of a fire, and under eip1559 MaxCyclesAuction does, which is less.
	MinGasLimit, MaxCycles, MaxCyclesAuction uint64
	// CellLimit is that of a timer that states none.
	CellLimit uint64
	// FairnessBlocks is the length of the fairness window. ByDeployer counts the fires of a deployer, and not of an actor.
	FairnessBlocks  uint64
	ByDeployer      bool
	Weights         market.WeightBounds
	MedianSmoothing math.LegacyDec

	Eip1559 market.EIP1559
	// Auction are the rules of the first block: later ones differ in λ alone.
	Auction auction.Rules
	Score   score.Rules
	Tip     tip.Rules
	// TipWeights is how policy tip weighs actors, TipEpochBlocks after how many blocks it does so again.
	TipWeights     tip.WeightRule
	TipEpochBlocks uint64
}

// Limits are the gas limits that the config allows under every policy, so that all have the same jobs.
func (c *Config) Limits() workload.Limits {
	return workload.Limits{Least: c.MinGasLimit, Most: min(c.MaxCycles, c.MaxCyclesAuction)}
}

// overhead is the meter of a block.
func (c *Config) overhead() *market.Overhead {
	return market.NewOverhead(c.OverheadCycles, c.RemovalCycles)
}

// auction returns the rules of a block after one that left λ, which stays within its bounds; nil for the first block.
func (c *Config) auction(before *auction.LambdaState) auction.Rules {
	rules := c.Auction
	if before != nil {
		rules.Lambda = math.LegacyMinDec(math.LegacyMaxDec(before.Lambda, rules.Loop.Min), rules.Loop.Max)
	}
	return rules
}
