package keeper

import (
	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/policy"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// auctionInfo is what the lane's query says of the auction, if it is in force in the next block.
func auctionInfo(response *types.QueryLaneResponse, p policy.Rules, state *types.AuctionState) {
	auction, inForce := auctionAt(p)
	if !inForce {
		return
	}
	response.Lambda = auction.Lambda.String()
	decay, deferral := math.LegacyZeroDec(), math.LegacyZeroDec()
	if state != nil {
		decay, deferral = state.ValueDecay, state.Deferral
	}
	response.ValueDecay, response.Deferral = decay.String(), deferral.String()
}

// bidOf reads the bid of an estimate. Under a policy that locks none it may be stated, and counts for nothing.
func (b *block) bidOf(text string, ask policy.Ask) (math.Int, error) {
	if text == "" {
		return math.ZeroInt(), nil
	}
	if ask.Kind != policy.Estimated {
		return math.Int{}, types.ErrInvalidBid.Wrapf("bid %.80q is stated beside a tier or prices: state one", text)
	}
	bid := &types.Bid{Price: text}
	if err := bid.Validate(); err != nil {
		return math.Int{}, err
	}
	bid, err := bid.ForAuction()
	if _, inForce := auctionAt(b.policy); err != nil || !inForce {
		return math.ZeroInt(), err
	}
	return bid.Stated(), nil
}

// estimateBid looks for the first ready timer that the candidate would have to come before to fire in the next block, if
// all fires use their gas limits: what it would have to bid for that, and what it would pay of its bid.
func (q queryServer) estimateBid(
	ctx sdk.Context, b *block, candidate policy.Candidate, response *types.QueryEstimateResponse,
) error {
	auction, inForce := auctionAt(b.policy)
	if !inForce {
		return nil
	}
	budget := b.lane
	var rival *policy.Candidate
	err := q.contestants(ctx, b, func(_ *types.Timer, c policy.Candidate) bool {
		// Room for the candidate is kept free: who does not fit beside it is whom it must pass.
		beside := budget
		beside.Spend(candidate.GasLimit, 0)
		if !beside.Fits(c.GasLimit) {
			rival = &c
			return false
		}
		budget.Spend(c.GasLimit, 0)
		return true
	})
	if err != nil {
		return err
	}
	least, possible := math.ZeroInt(), true
	if rival != nil {
		least, possible = auction.LeastBid(b.height, candidate, *rival)
	}
	if !possible {
		return nil
	}
	response.LeastBid = least.String()
	if candidate.Locked.GTE(least) {
		response.BidPayment = auction.Payment(b.height, candidate, rival).String()
	}
	return nil
}
