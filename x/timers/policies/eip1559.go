package policies

import (
	"context"

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

// Starts implements policies.Policy: after AUCTION_ACTIVATION_HEIGHT.
func (*EIP1559) Starts(config *types.TimerConfig, height uint64) bool {
	return height > config.Eip1559.AuctionActivationHeight
}

// CheckConfig implements Checker: the lane has headroom (x/timers/README.md, "7.2 Lane").
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

// GasCap implements policies.Policy: MAX_CYCLES_PER_FIRE_AUCTION.
func (*EIP1559) GasCap(config *types.TimerConfig) uint64 {
	return config.Eip1559.MaxCyclesPerFireAuction
}

// CountsFires implements policies.Policy.
func (*EIP1559) CountsFires() bool { return true }

// AsksAgents implements policies.Policy.
func (*EIP1559) AsksAgents() bool { return true }

// Accept implements policies.BidRules: prices must not be below what the lane charges now. The deprecated integer bid
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
	inForce := func(config *types.TimerConfig) bool { return config.Policy == p.ID() && p.Starts(config, height) }
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
func (p *EIP1559) Open(_ sdk.Context, b *Block) (Round, error) {
	r := &eip1559Round{rules: b.Config.Eip1559.Rules(&b.Config), weights: NewWeights(b, p.parts)}
	r.Storm = Storm{Window: Window{Block: b, Parts: p.parts, Rules: r.rules}, Indexer: r}
	return r, nil
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

// eip1559Round is the policy at work in one block.
type eip1559Round struct {
	Storm
	rules   market.EIP1559
	weights *Weights
}

var _ Indexer = (*eip1559Round)(nil)

// Rank implements policies.Round.
func (r *eip1559Round) Rank(ctx sdk.Context) error {
	if r.Block.Storm {
		if err := r.askAdmitted(ctx); err != nil {
			return err
		}
		return r.OpenRanking(ctx)
	}
	r.DropUnrunnable(ctx)
	if err := r.Agents.AskAll(ctx, r.Ready); err != nil {
		return err
	}
	r.Sort(ctx, r.Candidate)
	return nil
}

// askAdmitted calls the agents of timers that this block admitted or swept, and indexes them under the answers.
func (r *eip1559Round) askAdmitted(ctx sdk.Context) error {
	asked, err := r.Agents.AskNoted(ctx)
	if err != nil {
		return err
	}
	for _, t := range asked {
		first, filed, err := r.Index.At(state.KeyOf(t.Due, t.Seq))
		if err != nil {
			return err
		}
		if !filed || !(lists{}).Owns(first.List.Weight()) {
			continue
		}
		if answered := r.Entries(t, first.List.Weight())[0]; !answered.Same(first) {
			if err := r.Index.File(answered); err != nil {
				return err
			}
		}
	}
	return nil
}

// Candidate implements policies.Round: with the actor's weight.
func (r *eip1559Round) Candidate(ctx sdk.Context, t *types.Timer) market.Candidate {
	candidate := r.Storm.Candidate(ctx, t)
	candidate.Weight = r.weights.Of(ctx, t.Actor)
	return candidate
}

// Weight implements policies.Indexer.
func (r *eip1559Round) Weight(ctx sdk.Context, t *types.Timer) uint32 {
	return r.weights.Of(ctx, t.Actor)
}

// Entries implements policies.Indexer.
func (r *eip1559Round) Entries(t *types.Timer, weight uint32) []market.ListEntry {
	return market.EntriesOf(r.IndexedAsk(t), weight, t.Due, t.Seq)
}

// Lists implements policies.Indexer: those of other policies are the wide ones, which come last.
func (r *eip1559Round) Lists() (from, to market.List) {
	return market.ListOfWeight(1), market.ListOfWeight(market.WideWeight)
}

// Ranking implements policies.Indexer.
func (r *eip1559Round) Ranking(ctx sdk.Context) (Ranking, error) {
	return market.OpenEIP1559Index(ctx, r.Index, r.rules, r.Prices, r.IndexReads())
}
