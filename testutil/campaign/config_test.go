package campaign

import (
	"fmt"

	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/decimal"
	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/policies/agents"
	"github.com/cosmos-timers/timers/x/timers/policies/auction"
	"github.com/cosmos-timers/timers/x/timers/policies/score"
	"github.com/cosmos-timers/timers/x/timers/policies/tip"
	"github.com/cosmos-timers/timers/x/timers/types"
)

func price(d draws, texts ...string) decimal.Dec {
	return decimal.Of(math.LegacyMustNewDecFromStr(pick(d, texts...)))
}

// drawConfig is a config so small that a few timers are a storm. What is fixed in a chain stays.
func (w *world) drawConfig(d draws) types.TimerConfig {
	config := w.config()
	policies := w.app().Timers.Engine().Policies.All()
	config.Policy = pick(d, policies...).ID()
	config.LanePaused = d.one(8)
	config.MaxCyclesPerFire = d.between(100_000, 550_000)
	config.LaneTimerCycles = config.MaxCyclesPerFire * d.between(2, 6)
	config.MaxTtlBlocks = d.between(30, 80)
	config.MaxTimersPerActor = pick[uint32](d, 10, 40, 100)
	config.MaxFiresPerBlock, config.MaxFiresPerActor = pick[uint32](d, 0, 0, 2, 7), pick[uint32](d, 0, 0, 1, 3)
	config.GcCyclesPerBlock = market.RemovalCycles * d.between(1, 5)
	config.OverheadCyclesPerBlock = config.GcCyclesPerBlock + market.CyclesFor(market.Refile, int(d.between(1, 30)))
	config.CandidateWindow = uint32(d.between(1, 12))
	config.ReceiptRetentionBlocks, config.FairnessWindowBlocks = d.between(0, 8), d.between(1, 8)
	config.FairnessUnit = pick(d, types.UnitActor, types.UnitDeployer)
	config.WeightMin, config.WeightMax = price(d, "1", "0.0625"), price(d, "2", "8")
	config.MedianSmoothing = price(d, "1", "0.5", "0.01")
	types.ChangeParams(&config, func(p *agents.Params) { p.CyclesPerBlock = p.CyclesPerCall * d.between(1, 4) })
	config.ReservedShare, config.ReservedActors = price(d, "0", "0.1"), nil
	if d.one(2) {
		config.ReservedActors = []string{pick(d, poor.Address, rich.Address, w.hostile).String()}
	}
	config.CycleBasefee, config.CellBasefee = price(d, "0.001", "0.001", "0", "0.01"), price(d, "0.03", "0.03", "0", "0.1")
	config.DeniedMessages = nil
	if d.one(6) {
		config.DeniedMessages = []string{"/cosmos.staking.v1beta1.MsgDelegate"}
	}
	drawPolicies(d, &config, w.height())
	return config
}

// drawPolicies draws what belongs to single policies.
func drawPolicies(d draws, config *types.TimerConfig, height uint64) {
	market := &config.Eip1559
	// With a target of a half and a tenth reserved, the largest fire may take two fifths of the lane.
	market.MaxCyclesPerFireAuction = d.between(80_000, min(config.MaxCyclesPerFire, config.LaneTimerCycles*2/5))
	market.AuctionActivationHeight = pick(d, 0, 0, 0, height+d.between(1, 20))
	market.BasefeeResponse = pick(d, types.ResponseClip, types.ResponseLinear)
	market.LaneFeeMultiplier = price(d, "1", "0.8", "2", "0")
	market.BidDeprecationBlocks = pick[uint64](d, 0, 5, 1_000)
	types.ChangeParams(config, func(p *auction.Params) {
		p.PaymentRule = pick(d, auction.PaymentVCG, auction.PaymentFirstPrice)
		p.ReservePrice = decimal.IntOf(math.NewInt(pick[int64](d, 0, 0, 5, 3_000)))
		p.LambdaStep = price(d, "0.01", "0.5", "0")
		p.AuctionWindowBlocks = d.between(1, 20)
	})
	types.ChangeParams(config, func(p *score.Params) {
		p.WAge, p.WBid, p.WFifo = price(d, "1", "0", "1000000"), price(d, "0.01", "0", "1"), price(d, "0", "0", "0.5")
	})
	types.ChangeParams(config, func(p *tip.Params) {
		p.EpochBlocks, p.StarvationBlocks, p.LateBlocks = d.between(1, 8), d.between(1, 5), d.between(1, 5)
		p.Decay = price(d, "0.2", "1", "0")
	})
}

// tally is a line of what a history did.
func (w *world) tally() string {
	c := w.ledger.Counts
	return fmt.Sprintf("%d blocks, %d timers scheduled, %d fires (%d failed), %d expired, %d unfunded, %d cancelled, %d on hold, %d released",
		w.done["block"], c.Scheduled, c.Fired, c.Failed, c.Expired, c.Unfunded, c.Cancelled, c.OnHold, c.Released)
}
