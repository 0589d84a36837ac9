package storm

import (
	"fmt"
	"math"
	"math/rand/v2"

	sdkmath "cosmossdk.io/math"

	"github.com/cosmos-timers/timers/testutil/bench/workload"
	"github.com/cosmos-timers/timers/x/timers/decimal"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// Bids is what the timers of a storm bid while the lane's fee stays at laneFee. Floats draw it; nothing of the module does.
type Bids struct {
	Name string
	Draw func(r *rand.Rand) *types.Bid
	// onHold: the storm itself never fires; as many as a calm block fires become due beside it in every block.
	onHold bool
}

const (
	// laneFee is MIN_LANE_BASEFEE, where the lane's fee starts and, at the slowest MAX_CHANGE, stays.
	laneFee  = 0.001
	usualTip = laneFee / 10
	// usualBid is for a whole fire, where a policy takes such bids.
	usualBid = 1_000
)

var (
	// DefaultBids leave the price to the estimator.
	DefaultBids = Bids{Name: "default", Draw: func(*rand.Rand) *types.Bid { return nil }}
	// LognormalBids are what people make: tips about the usual one, slacks about the lane's fee, none below it.
	LognormalBids = Bids{Name: "lognormal", Draw: lognormalBid}
	// EqualBids are all stated alike.
	EqualBids = Bids{Name: "equal", Draw: func(*rand.Rand) *types.Bid { return statedBid(2*laneFee, usualTip) }}
	// MixedBids are tiers, defaults and stated prices.
	MixedBids = Bids{Name: "mixed tiers", Draw: func(r *rand.Rand) *types.Bid {
		switch tier := r.Int32N(7); {
		case tier == 0:
			return nil
		case tier > int32(types.TierUrgent):
			return lognormalBid(r)
		default:
			return &types.Bid{Tier: types.PriorityTier(tier)}
		}
	}}
	// PricedBids are what people bid for a whole fire, about the usual one.
	PricedBids = Bids{Name: "a price", Draw: func(r *rand.Rand) *types.Bid {
		return &types.Bid{Price: fmt.Sprint(int64(usualBid * math.Exp(r.NormFloat64())))}
	}}
	// PoisonBids lie a hair below the lane's fee and are all tip: first in the order of tips, and never to fire.
	PoisonBids = Bids{Name: "poison", onHold: true, Draw: func(r *rand.Rand) *types.Bid {
		fee := laneFee * (1 - 1e-3*(0.1+r.Float64()))
		return statedBid(fee, fee)
	}}
)

// AllBids are those of the published figures under eip1559.
var AllBids = []Bids{DefaultBids, LognormalBids, EqualBids, MixedBids, PoisonBids}

// bidsOf are the bids of the published figures under other policies: different ones, where the policy takes any.
var bidsOf = map[workload.Policy]Bids{
	workload.FIFO: DefaultBids, workload.Auction: PricedBids, workload.Score: PricedBids, workload.Tip: LognormalBids,
}

func lognormalBid(r *rand.Rand) *types.Bid {
	tip := usualTip * math.Exp(r.NormFloat64())
	return statedBid(max(tip+laneFee*math.Exp(0.5+0.7*r.NormFloat64()), laneFee*1.01), tip)
}

func statedBid(fee, tip float64) *types.Bid {
	price := func(f float64) sdkmath.LegacyDec { return sdkmath.LegacyMustNewDecFromStr(fmt.Sprintf("%.18f", f)) }
	return &types.Bid{Static: &types.StaticBid{MaxFeePerCycle: decimal.Of(price(fee)), MaxPriorityFeePerCycle: decimal.Of(price(min(fee, tip)))}}
}
