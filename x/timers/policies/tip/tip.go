// Package tip binds policy tip to state: the weights of actors, by epoch.
package tip

import (
	"context"

	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/market"
	rules "github.com/cosmos-timers/timers/x/timers/market/tip"
	"github.com/cosmos-timers/timers/x/timers/policies"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// Policy tip.
type Policy struct {
	policies.Base
	parts   *policies.Parts
	weights *weights
}

var _ policies.Policy = (*Policy)(nil)

// New binds the policy.
func New(parts *policies.Parts) policies.Policy {
	return &Policy{parts: parts, weights: newWeights(parts)}
}

// ID implements policies.Policy.
func (*Policy) ID() types.Policy { return types.PolicyTip }

// Messages implements policies.Guest.
func (*Policy) Messages() policies.Messages {
	return policies.Messages{
		Params: (*Params)(nil).Defaults(), State: []types.PolicyState{&State{}, &Weights{}}, Standing: []types.PolicyStanding{&Standing{}},
	}
}

// Traits implements policies.Policy.
func (p *Policy) Traits(config *types.TimerConfig) market.Traits {
	traits := p.Base.Traits(config)
	traits.WeightUnit = rules.WeightUnits
	traits.DefersUnfunded, traits.AsksAgents, traits.SharesWindow, traits.SlicesLane = true, true, true, true
	return traits
}

// Rules implements policies.Policy.
func (*Policy) Rules(config *types.TimerConfig, _ *types.LaneState) market.Rules {
	return RulesOf(config)
}

// Accept implements policies.Policy: prices must not be below the chain's cycle basefee, and an integer bid is
// ignored.
func (p *Policy) Accept(ctx context.Context, config *types.TimerConfig, bid *types.Bid) (policies.Accepted, error) {
	switch {
	case bid.Price != "":
		return policies.Accepted{Ignored: true}, nil
	case bid.Static == nil:
		return p.Base.Accept(ctx, config, bid)
	}
	lane, err := p.parts.Lane.Get(ctx)
	if err != nil {
		return policies.Accepted{}, err
	}
	return policies.AcceptAtMost(*bid.Static, p.parts.Fees.AskBasefees(ctx, config, &lane).Cycle)
}

// Maintain implements policies.Policy: it removes records so old that their weights are neutral.
func (p *Policy) Maintain(ctx sdk.Context, b *policies.Block, _ bool) error {
	return p.weights.drop(ctx, b)
}

// Open implements policies.Policy. It begins an epoch if the length of epochs changed.
func (p *Policy) Open(ctx sdk.Context, b *policies.Block) (market.Rules, error) {
	params := types.ParamsOf[Params](&b.Config)
	changeState(&b.State, func(s *State) { follow(s, params.EpochBlocks, b.Height) })
	state := stateIn(&b.State)
	return &inForce{
		Rules: RulesOf(&b.Config), block: b, weights: p.weights, reader: p.weights.reader(ctx),
		epoch: epochAt(&state, b.Height), rule: WeightsOf(params),
		known: map[string]uint32{}, records: map[string]*Weight{}, noted: map[string]*blockStats{},
	}, nil
}

// Describe implements policies.Policy: the actor's weight in the next block.
func (p *Policy) Describe(
	ctx context.Context, config *types.TimerConfig, lane *types.LaneState, actor sdk.AccAddress,
) (types.PolicyStanding, error) {
	if actor == nil {
		return nil, nil
	}
	height := types.HeightOf(ctx) + 1
	record, err := p.weights.get(sdk.UnwrapSDKContext(ctx), p.weights.reader(ctx), actor)
	if err != nil {
		return nil, err
	}
	state, params := stateIn(lane), types.ParamsOf[Params](config)
	rule := WeightsOf(params)
	follow(&state, params.EpochBlocks, height)
	standing := &Standing{Epoch: epochAt(&state, height), EpochEnds: endOf(&state, height)}
	standing.Weight = weightIn(rule, record, standing.Epoch).String()
	standing.Next = weightIn(rule, record, standing.Epoch+1).String()
	if record == nil {
		return standing, nil
	}
	standing.LastFire = lastFire(record, standing.Epoch)
	if record.Epoch == standing.Epoch {
		standing.Score, standing.Fires, standing.Unfunded = rule.Score(statsOf(record)).String(), record.Fires, record.Unfunded
	}
	return standing, nil
}

// weightIn is an actor's weight in an epoch, from its record.
func weightIn(rule rules.WeightRule, record *Weight, epoch uint64) math.LegacyDec {
	if record == nil {
		return rule.Neutral
	}
	return rule.WeightIn(historyOf(record), epoch)
}

// lastFire is when an actor fired last, as of an epoch; 0 if that is not known.
func lastFire(record *Weight, epoch uint64) uint64 {
	if record == nil || isForgotten(record, epoch) {
		return 0
	}
	return record.LastFire
}
