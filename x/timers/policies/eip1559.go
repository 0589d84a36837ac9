package policies

import (
	"context"

	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/state"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// EIP1559 binds policy eip1559 to state: its lists in the ready index, the fairness weights by which it ranks, and the bids
// that it accepts.
type EIP1559 struct {
	Base
	parts *Parts
}

var _ Policy = (*EIP1559)(nil)

// NewEIP1559 binds the policy.
func NewEIP1559(parts *Parts) Policy {
	p := &EIP1559{parts: parts}
	parts.Index.Own(lists{})
	return p
}

// ID implements policies.Policy.
func (*EIP1559) ID() types.Policy { return types.PolicyEIP1559 }

// Traits implements policies.Policy: in force after AUCTION_ACTIVATION_HEIGHT.
func (*EIP1559) Traits(config *types.TimerConfig) market.Traits {
	after := config.Eip1559.AuctionActivationHeight
	return market.Traits{
		From: max(after, after+1), GasCap: config.Eip1559.MaxCyclesPerFireAuction, WeightUnit: market.OneWeight, CountsFires: true, AsksAgents: true,
	}
}

// CheckConfig implements policies.Policy: the lane has headroom (x/timers/README.md, "7.2 Lane").
func (*EIP1559) CheckConfig(config *types.TimerConfig) error {
	headroom := market.Headroom{
		Capacity: config.LaneCapacity(), Target: config.Eip1559.Target.LegacyDec, Reserved: config.ReservedShare.LegacyDec,
		Cycles: config.Eip1559.MaxCyclesPerFireAuction, Cells: config.MaxCellsPerFire, Least: config.MinGasLimit,
	}
	if err := headroom.Check(); err != nil {
		return types.ErrInvalidConfig.Wrapf("%s", err)
	}
	return nil
}

// Rules implements policies.Policy.
func (*EIP1559) Rules(config *types.TimerConfig, _ *types.LaneState) market.Rules {
	return config.Eip1559.Rules(config)
}

// Accept implements policies.Policy: prices must not be below what the lane charges now. The deprecated integer bid
// is ignored until BID_DEPRECATION_BLOCKS have passed since the policy came into force, and refused from then on.
func (p *EIP1559) Accept(ctx context.Context, config *types.TimerConfig, bid *types.Bid) (Accepted, error) {
	if bid.Price == "" && bid.Static == nil {
		return p.Base.Accept(ctx, config, bid)
	}
	lane, err := p.parts.Lane.Get(ctx)
	if err != nil {
		return Accepted{}, err
	}
	if bid.Price != "" {
		return acceptDeprecated(config, &lane, types.HeightOf(ctx))
	}
	eip := config.Eip1559.Rules(config)
	prices := PricesOf(ctx, p.parts.Fees.AskBasefees(ctx, config, &lane), eip, config, &lane)
	return AcceptAtMost(*bid.Static, eip.Fee(prices))
}

func acceptDeprecated(config *types.TimerConfig, lane *types.LaneState, now uint64) (Accepted, error) {
	since := lane.MarketSince
	if since == 0 {
		since = now
	}
	refusedFrom := since + config.Eip1559.BidDeprecationBlocks
	if now >= refusedFrom {
		return Accepted{}, types.ErrArgDeprecated.Wrapf(
			"the integer bid is refused since height %d; state max_fee and max_priority, a tier, or nothing", refusedFrom)
	}
	return Accepted{Ignored: true, RefusedFrom: refusedFrom}, nil
}

// Maintain implements policies.Policy: it records the height since which the policy is in force.
func (*EIP1559) Maintain(_ sdk.Context, b *Block, _ bool) error {
	if b.State.MarketSince == 0 {
		b.State.MarketSince = b.Height
	}
	return nil
}

// Activate implements policies.Policy: it forgets since when the policy was in force, if a config ends that or begins it again.
func (p *EIP1559) Activate(ctx context.Context, before, after *types.TimerConfig) error {
	height := types.HeightOf(ctx)
	inForce := func(config *types.TimerConfig) bool {
		return config.Policy == p.ID() && height >= p.Traits(config).From
	}
	if inForce(before) && inForce(after) {
		return nil
	}
	lane, err := p.parts.Lane.Get(ctx)
	if err != nil || lane.MarketSince == 0 {
		return err
	}
	lane.MarketSince = 0
	return p.parts.Lane.Set(ctx, lane)
}

// InitGenesis implements state.Component.
func (*EIP1559) InitGenesis(ctx context.Context, genesis *types.GenesisState) error {
	if since, now := genesis.Lane.MarketSince, types.HeightOf(ctx); since > now {
		return types.ErrInvalidGenesis.Wrapf("lane.market_since is %d, want at most %d", since, now)
	}
	return nil
}

// Open implements policies.Policy.
func (p *EIP1559) Open(_ sdk.Context, b *Block) (market.Rules, error) {
	return &eip1559Rules{EIP1559: b.Config.Eip1559.Rules(&b.Config), prices: b.Prices, weights: NewWeights(b, p.parts)}, nil
}

// lists are those of the ready index under fairness weights: by kind of ask, and by slack where prices are stated.
type lists struct{}

var _ state.ListOwner = lists{}

// Owns implements state.ListOwner.
func (lists) Owns(weight uint32) bool { return !market.ListOfWeight(weight).Wide() }

// Summarized implements state.ListOwner.
func (lists) Summarized(list market.List) bool { return market.Leads(list) }

// Entries implements state.ListOwner.
func (lists) Entries(of market.ListEntry) []market.ListEntry {
	return market.EntriesOf(market.AskOf(of), of.List.Weight(), of.Due, of.Seq)
}

// eip1559Rules are those of one block, with the weights of actors.
type eip1559Rules struct {
	market.EIP1559
	prices  market.Prices
	weights *Weights
}

// Weigh implements contest.Weigher.
func (r *eip1559Rules) Weigh(ctx sdk.Context, actor sdk.AccAddress, c *market.Candidate) {
	c.Weight = r.weights.Of(ctx, actor)
}

// Weight implements contest.Indexer.
func (r *eip1559Rules) Weight(ctx sdk.Context, actor sdk.AccAddress) uint32 {
	return r.weights.Of(ctx, actor)
}

// Entries implements contest.Indexer.
func (*eip1559Rules) Entries(t *types.Timer, ask market.Ask, weight uint32) []market.ListEntry {
	return market.EntriesOf(ask, weight, t.Due, t.Seq)
}

// Lists implements contest.Indexer: those of other policies are the wide ones, which come last.
func (*eip1559Rules) Lists() (from, to market.List) {
	return market.ListOfWeight(1), market.ListOfWeight(market.WideWeight)
}

// Ranking implements contest.Indexer.
func (r *eip1559Rules) Ranking(
	ctx sdk.Context, store market.ListSummary, reads int, _ func(context.Context, market.ListEntry) (market.Candidate, bool, error),
) (market.Ranking, error) {
	return market.OpenEIP1559Index(ctx, store, r.EIP1559, r.prices, reads)
}

// Weights are the fairness weights of a block, in sixteenths. They are looked up once for each actor.
type Weights struct {
	block  *Block
	parts  *Parts
	bounds market.WeightBounds
	known  map[string]uint32
}

// NewWeights returns an empty memory of weights.
func NewWeights(b *Block, parts *Parts) *Weights {
	return &Weights{b, parts, b.Config.WeightBounds(), map[string]uint32{}}
}

// Of is the actor's weight; of nil, that of one without recent fires. A record that can't be read weighs least: its timers can't
// fire, and others must not suffer for it.
func (w *Weights) Of(ctx sdk.Context, actor sdk.AccAddress) uint32 {
	if actor == nil {
		return w.bounds.Max
	}
	if weight, known := w.known[string(actor)]; known {
		return weight
	}
	weight := w.bounds.Min
	unit := w.parts.Fairness.UnitOf(ctx, &w.block.Config, actor)
	if recent, err := w.block.Recents.Of(ctx, unit); err == nil {
		weight = w.bounds.Weight(recent, w.block.Before.Fairness.Smoothed)
	}
	w.known[string(actor)] = weight
	return weight
}

// WeightDec is a fairness weight as people read it.
func WeightDec(sixteenths uint32) math.LegacyDec {
	return math.LegacyNewDec(int64(sixteenths)).QuoInt64(market.OneWeight)
}
