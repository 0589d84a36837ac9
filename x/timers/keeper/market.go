package keeper

import (
	"context"
	"slices"

	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/policy"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// pricesOf are the prices of the block at ctx's height, which follow from what the block before left and the chain's fee
// market (SPEC §6). They are known before any of the block's transactions run.
func (k *Keeper) pricesOf(ctx context.Context, config *types.TimerConfig, last *types.LaneState) (policy.Prices, error) {
	cycle, cell, err := k.basefees.Basefees(ctx, config)
	if err != nil {
		return policy.Prices{}, err
	}
	prices := policy.Prices{Height: heightOf(ctx), Cycle: types.ClampPrice(cycle), Cell: types.ClampPrice(cell), P50: last.P50}
	// Under fifo the lane basefee is the cycle basefee: so it is before the first block, and eip1559 goes on from there.
	before := policy.Last{Basefee: prices.Cycle, Cycles: last.Cycles}
	if last.LaneBasefee != nil {
		before.Basefee = *last.LaneBasefee
	}
	prices.Lane = policyAt(config, prices.Height, last).LaneBasefee(prices.Cycle, before)
	return prices, nil
}

// recordMarket leaves the market's state to the next block.
func (b *block) recordMarket() {
	basefee := b.prices.Lane
	b.state.LaneBasefee = &basefee
	b.state.P50 = b.p50()
	switch {
	case b.config.PolicyAt(b.height) != types.PolicyEIP1559:
		b.state.MarketSince = 0
	case b.state.MarketSince == 0:
		b.state.MarketSince = b.height
	}
	before := b.state.Auction
	b.state.Auction = nil
	if auction, inForce := auctionAt(b.policy); inForce {
		b.state.Auction = before.After(auction, b.seen)
	}
}

// p50 is the median tip per cycle of the block's fires, the lower of the two middle ones; 0 if there are none.
func (b *block) p50() math.LegacyDec {
	if len(b.tipsPerCycle) == 0 {
		return math.LegacyZeroDec()
	}
	tips := slices.Clone(b.tipsPerCycle)
	slices.SortFunc(tips, func(a, b math.LegacyDec) int { return a.BigIntMut().Cmp(b.BigIntMut()) })
	return tips[(len(tips)-1)/2]
}

// acceptedBid is a bid as it is kept, and what its owner is told about it.
type acceptedBid struct {
	bid *types.Bid
	// stated is the tip before it was clamped, nil if it was not.
	stated *math.LegacyDec
	// ignored: the withdrawn argument was stated. From refusedFrom on it is refused, 0 if never.
	ignored     bool
	refusedFrom uint64
}

// acceptBid checks a bid, or refuses it, by the policy in force (SPEC §3). Nothing is taken yet (relock).
func (k *Keeper) acceptBid(ctx context.Context, config *types.TimerConfig, bid *types.Bid) (acceptedBid, error) {
	if err := bid.Validate(); err != nil || bid == nil {
		return acceptedBid{}, err
	}
	inForce := config.PolicyAt(heightOf(ctx))
	switch {
	case bid.Agent != "":
		return k.acceptAgent(ctx, bid.Agent)
	case bid.Price != "" && inForce == types.PolicyAuction:
		return k.acceptPrice(bid)
	case bid.Price != "" && inForce == types.PolicyScore:
		kept, err := bid.ScoreBid()
		return acceptedBid{bid: kept}, err
	case bid.Price != "" && inForce == types.PolicyEIP1559:
		return k.ignoreBid(ctx, config)
	case bid.Price != "" && inForce == types.PolicyTip:
		return acceptedBid{ignored: true}, nil
	case bid.Static != nil && (inForce == types.PolicyEIP1559 || inForce == types.PolicyTip):
		return k.clampBid(ctx, config, *bid.Static)
	case bid.Static == nil && bid.Tier == types.TierUnspecified:
		// An empty bid, or under fifo the withdrawn argument: the default estimator.
		return acceptedBid{}, nil
	default:
		return acceptedBid{bid: bid}, nil
	}
}

// ignoreBid accepts the withdrawn argument, and ignores it, until BID_DEPRECATION_BLOCKS have passed since eip1559 came
// into force.
func (k *Keeper) ignoreBid(ctx context.Context, config *types.TimerConfig) (acceptedBid, error) {
	lane, err := k.state.lane.Get(ctx)
	if err != nil {
		return acceptedBid{}, err
	}
	now := heightOf(ctx)
	since := lane.MarketSince
	if since == 0 {
		since = now
	}
	refusedFrom := since + config.BidDeprecationBlocks
	if now >= refusedFrom {
		return acceptedBid{}, types.ErrArgDeprecated.Wrapf(
			"the integer bid is refused since height %d; state max_fee and max_priority, a tier, or nothing", refusedFrom)
	}
	return acceptedBid{ignored: true, refusedFrom: refusedFrom}, nil
}

// clampBid refuses a max fee below what the lane charges in this block, and lowers a tip to what the max fee leaves.
func (k *Keeper) clampBid(ctx context.Context, config *types.TimerConfig, bid types.StaticBid) (acceptedBid, error) {
	lane, err := k.state.lane.Get(ctx)
	if err != nil {
		return acceptedBid{}, err
	}
	prices, err := k.pricesOf(ctx, config, &lane)
	if err != nil {
		return acceptedBid{}, err
	}
	fee := config.EIP1559().Fee(prices)
	if config.PolicyAt(prices.Height) == types.PolicyTip {
		fee = prices.Cycle
	}
	left := bid.MaxFeePerCycle.Sub(fee)
	if left.IsNegative() {
		return acceptedBid{}, types.ErrRejectedBelowBasefee.Wrapf(
			"max_fee_per_cycle %s is below %s, what the lane charges per cycle in this block", bid.MaxFeePerCycle, fee)
	}
	accepted := acceptedBid{bid: &types.Bid{Static: &bid}}
	if bid.MaxPriorityFeePerCycle.GT(left) {
		stated := bid.MaxPriorityFeePerCycle
		accepted.stated, bid.MaxPriorityFeePerCycle = &stated, left
	}
	return accepted, nil
}

// reportBid tells the owner what was not kept as it was stated.
func (k *Keeper) reportBid(ctx context.Context, t *types.Timer, accepted acceptedBid) error {
	if accepted.stated != nil {
		return k.emit(ctx, &types.TimerPriorityClampedAtSchedule{
			Id: t.IDHex(), Actor: k.bech32(t.Actor),
			Stated: accepted.stated.String(), Clamped: t.Bid.Static.MaxPriorityFeePerCycle.String(),
		})
	}
	if accepted.ignored {
		return k.emit(ctx, &types.TimerBidIgnored{Id: t.IDHex(), Actor: k.bech32(t.Actor), RefusedFrom: accepted.refusedFrom})
	}
	return nil
}

// candidateOf is a ready timer as the policy sees it.
func (k *Keeper) candidateOf(ctx sdk.Context, b *block, t *types.Timer) policy.Candidate {
	candidate := policy.Candidate{
		Due: t.Due, Seq: t.Seq, GasLimit: t.GasLimit, Actor: string(t.Actor), ID: string(t.Id), Ask: b.askOf(t),
	}
	if t.BidLocked != "" {
		candidate.Locked = t.Locked()
	}
	switch {
	case b.weighs():
		candidate.Weight = k.weightOf(ctx, b, t.Actor)
	case b.tip != nil:
		candidate.Weight, candidate.Unfunded = k.tipWeightOf(ctx, b, t.Actor), t.UnfundedSince > 0
	}
	k.setTurn(ctx, b, t.Actor, &candidate)
	return candidate
}
