package policies

import (
	"context"

	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/decimal"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// Base is a Policy without state, with the simplest behaviour in each method. A policy embeds it.
type Base struct{}

// InitGenesis implements state.Component.
func (Base) InitGenesis(context.Context, *types.GenesisState) error { return nil }

// ExportGenesis implements state.Component.
func (Base) ExportGenesis(context.Context, *types.GenesisState) error { return nil }

// CheckInvariants implements state.Component.
func (Base) CheckInvariants(context.Context) error { return nil }

// Params implements Guest: none.
func (Base) Params() types.PolicyParams { return nil }

// Messages implements Guest: none.
func (Base) Messages() Messages { return Messages{} }

// ReturnsLocked implements Policy.
func (Base) ReturnsLocked() bool { return false }

// Starts implements Policy: from the first block on.
func (Base) Starts(*types.TimerConfig, uint64) bool { return true }

// GasCap implements Policy: MAX_CYCLES_PER_FIRE.
func (Base) GasCap(config *types.TimerConfig) uint64 { return config.MaxCyclesPerFire }

// CountsFires implements Policy.
func (Base) CountsFires() bool { return false }

// DefersUnfunded implements Policy.
func (Base) DefersUnfunded() bool { return false }

// AsksAgents implements Policy.
func (Base) AsksAgents() bool { return false }

// Accept implements BidRules: stated prices are stored and not used. An empty bid, and the deprecated integer bid,
// count as no bid.
func (Base) Accept(_ context.Context, _ *types.TimerConfig, bid *types.Bid) (Accepted, error) {
	if bid.Static == nil && bid.Tier == types.TierUnspecified {
		return Accepted{}, nil
	}
	return Accepted{Bid: bid}, nil
}

// Relock implements BidRules: nothing is locked.
func (Base) Relock(context.Context, *types.TimerConfig, *types.Timer, bool) error { return nil }

// Follow implements Policy.
func (Base) Follow(sdk.Context, *Block) Follower { return nil }

// Reset implements Policy.
func (Base) Reset(*types.Timer) {}

// Maintain implements Policy.
func (Base) Maintain(sdk.Context, *Block, bool) error { return nil }

// Activate implements Policy.
func (Base) Activate(context.Context, *types.TimerConfig, *types.TimerConfig) error { return nil }

// Describe implements Policy: nothing.
func (Base) Describe(*types.TimerConfig, *types.LaneState) types.PolicyStanding { return nil }

// DescribeActor implements Policy: nothing.
func (Base) DescribeActor(context.Context, *types.TimerConfig, *types.LaneState, sdk.AccAddress) (types.PolicyStanding, error) {
	return nil, nil
}

// AcceptAtMost refuses a max fee below what the lane charges in this block, and lowers a tip to what the max fee
// leaves.
func AcceptAtMost(bid types.StaticBid, fee math.LegacyDec) (Accepted, error) {
	remaining := bid.MaxFeePerCycle.Sub(fee)
	if remaining.IsNegative() {
		return Accepted{}, types.ErrRejectedBelowBasefee.Wrapf(
			"max_fee_per_cycle %s is below %s, what the lane charges per cycle in this block", bid.MaxFeePerCycle, fee)
	}
	accepted := Accepted{Bid: &types.Bid{Static: &bid}}
	if bid.MaxPriorityFeePerCycle.GT(remaining) {
		stated := bid.MaxPriorityFeePerCycle.LegacyDec
		accepted.Stated, bid.MaxPriorityFeePerCycle = &stated, decimal.Of(remaining)
	}
	return accepted, nil
}
