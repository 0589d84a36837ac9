// Package eip1559 binds policy eip1559 to state: its lists in the ready index, the fairness weights by which it ranks,
// and the bids that it accepts.
package eip1559

import (
	"context"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/merge"
	"github.com/cosmos-timers/timers/x/timers/policies"
	"github.com/cosmos-timers/timers/x/timers/policy"
	rules "github.com/cosmos-timers/timers/x/timers/policy/eip1559"
	"github.com/cosmos-timers/timers/x/timers/state/index"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// Policy eip1559.
type Policy struct {
	policies.Base
	lists
	parts *policies.Parts
}

var _ policies.Policy = (*Policy)(nil)

// New binds the policy.
func New(parts *policies.Parts) policies.Policy {
	p := &Policy{parts: parts}
	parts.Index.Own(p)
	return p
}

// ID implements policies.Policy.
func (*Policy) ID() types.Policy { return types.PolicyEIP1559 }

// Starts implements policies.Policy: after AUCTION_ACTIVATION_HEIGHT.
func (*Policy) Starts(config *types.TimerConfig, height uint64) bool {
	return height > config.Eip1559.AuctionActivationHeight
}

// CheckConfig implements registry.Checker: the lane has headroom (x/timers/README.md, "7.2 Lane").
func (*Policy) CheckConfig(config *types.TimerConfig) error {
	headroom := rules.Headroom{
		Capacity: config.LaneCapacity(), Target: config.Eip1559.Target.LegacyDec, Reserved: config.ReservedShare.LegacyDec,
		Cycles: config.Eip1559.MaxCyclesPerFireAuction, Cells: config.MaxCellsPerFire, Least: config.MinGasLimit,
	}
	if err := headroom.Check(); err != nil {
		return types.ErrInvalidConfig.Wrapf("%v", err)
	}
	return nil
}

// Rules implements policies.Policy.
func (*Policy) Rules(config *types.TimerConfig, _ *types.LaneState) policy.Rules {
	return config.Eip1559.Rules(config)
}

// GasCap implements policies.Policy: MAX_CYCLES_PER_FIRE_AUCTION.
func (*Policy) GasCap(config *types.TimerConfig) uint64 {
	return config.Eip1559.MaxCyclesPerFireAuction
}

// CountsFires implements policies.Policy.
func (*Policy) CountsFires() bool { return true }

// AsksAgents implements policies.Policy.
func (*Policy) AsksAgents() bool { return true }

// Accept implements policies.BidRules: prices must not be below what the lane charges now. The deprecated integer bid
// is ignored until BID_DEPRECATION_BLOCKS have passed since the policy came into force, and refused from then on.
func (p *Policy) Accept(ctx context.Context, config *types.TimerConfig, bid *types.Bid) (policies.Accepted, error) {
	if bid.Price == "" && bid.Static == nil {
		return p.Base.Accept(ctx, config, bid)
	}
	lane, err := p.parts.Lane.Get(ctx)
	if err != nil {
		return policies.Accepted{}, err
	}
	if bid.Price != "" {
		return acceptDeprecated(config, &lane, types.HeightOf(ctx))
	}
	eip := config.Eip1559.Rules(config)
	prices := policies.PricesOf(ctx, p.parts.Fees.AskBasefees(ctx, config, &lane), eip, config, &lane)
	return policies.AcceptAtMost(*bid.Static, eip.Fee(prices))
}

func acceptDeprecated(config *types.TimerConfig, lane *types.LaneState, now uint64) (policies.Accepted, error) {
	since := lane.MarketSince
	if since == 0 {
		since = now
	}
	refusedFrom := since + config.Eip1559.BidDeprecationBlocks
	if now >= refusedFrom {
		return policies.Accepted{}, types.ErrArgDeprecated.Wrapf(
			"the integer bid is refused since height %d; state max_fee and max_priority, a tier, or nothing", refusedFrom)
	}
	return policies.Accepted{Ignored: true, RefusedFrom: refusedFrom}, nil
}

// Maintain implements policies.Policy: it records the height since which the policy is in force.
func (*Policy) Maintain(_ sdk.Context, b *policies.Block, inForce bool) error {
	switch {
	case !inForce:
		b.State.MarketSince = 0
	case b.State.MarketSince == 0:
		b.State.MarketSince = b.Height
	}
	return nil
}

// InitGenesis implements state.Component.
func (*Policy) InitGenesis(ctx context.Context, genesis *types.GenesisState) error {
	if since, now := genesis.Lane.MarketSince, types.HeightOf(ctx); since > now {
		return types.ErrInvalidGenesis.Wrapf("lane.market_since is %d, want at most %d", since, now)
	}
	return nil
}

// Open implements policies.Policy.
func (p *Policy) Open(_ sdk.Context, b *policies.Block) (policies.Round, error) {
	r := &round{rules: b.Config.Eip1559.Rules(&b.Config), weights: policies.NewWeights(b, p.parts)}
	r.Storm = policies.Storm{Window: policies.Window{Block: b, Parts: p.parts, Rules: r.rules}, Indexer: r}
	return r, nil
}

// lists are those of the ready index under fairness weights: by kind of ask, and by slack where prices are stated.
type lists struct{}

var _ index.ListOwner = lists{}

// Owns implements index.ListOwner.
func (lists) Owns(weight uint32) bool { return !merge.ListOfWeight(weight).Wide() }

// Summarized implements index.ListOwner.
func (lists) Summarized(list merge.List) bool { return rules.Leads(list) }

// Entries implements index.ListOwner.
func (lists) Entries(t *types.Timer) []merge.Entry {
	return rules.EntriesOf(policies.RecordedAsk(t), t.AdmittedWeight, t.Due, t.Seq)
}

// Relocated implements index.ListOwner: a quote is dropped with the bid for which it was given. A ceiling is dropped with
// what it follows from. So the timer is met as soon as its bid allows, and is then given the ceiling of that block.
func (lists) Relocated(at index.Placement, before, t *types.Timer) index.Placement {
	if !t.Bid.Equal(before.Bid) {
		at.Quote = nil
	}
	if t.MaxCharge != before.MaxCharge || t.GasLimit != before.GasLimit || t.CellLimit != before.CellLimit {
		at.Ceiling = nil
	}
	return at
}

// Check implements index.ListOwner.
func (lists) Check(_ context.Context, t *types.Timer) error {
	if len(t.AdmittedScore) > 0 {
		return types.ErrInternal.Wrapf("admitted with weight %d and a score of %d bytes", t.AdmittedWeight, len(t.AdmittedScore))
	}
	return nil
}

// round is the policy at work in one block.
type round struct {
	policies.Storm
	rules   rules.Rules
	weights *policies.Weights
}

var _ policies.Indexer = (*round)(nil)

// Rank implements policies.Round.
func (r *round) Rank(ctx sdk.Context) (err error) {
	if r.Block.Storm {
		if err := r.askAdmitted(ctx); err != nil {
			return err
		}
		return r.OpenRanking(ctx)
	}
	r.DropUnrunnable(ctx)
	if r.State.AgentTurn, err = r.Agents.AskAll(ctx, r.Ready); err != nil {
		return err
	}
	r.Sort(ctx, r.Candidate)
	return nil
}

// askAdmitted calls the agents of timers that this block admitted or swept, and indexes them under the answers.
func (r *round) askAdmitted(ctx sdk.Context) error {
	asked, next, err := r.Agents.AskNoted(ctx)
	if err != nil {
		return err
	}
	r.State.AgentTurn = next
	for _, t := range asked {
		at := index.Placement{Weight: t.AdmittedWeight, Quote: r.SponsoredQuote(t, r.Agents.QuoteOf(t)), Ceiling: r.IndexCeiling(t)}
		if at.Quote.Equal(t.Quote) && at.HasCeiling(t.AdmittedCeiling) {
			continue
		}
		if err := r.Parts.Index.Reindex(ctx, t, at); err != nil {
			return err
		}
	}
	return nil
}

// Candidate implements policies.Round: with the actor's weight.
func (r *round) Candidate(ctx sdk.Context, t *types.Timer) policy.Candidate {
	candidate := r.Storm.Candidate(ctx, t)
	candidate.Weight = r.weights.Of(ctx, t.Actor)
	return candidate
}

// Placement implements policies.Indexer. A timer that is met under a weight that has risen stays where it is: its turn has
// come.
func (r *round) Placement(ctx sdk.Context, t *types.Timer) index.Placement {
	weight := r.weights.Of(ctx, t.Actor)
	if r.indexed(t) {
		weight = min(weight, t.AdmittedWeight)
	}
	return index.Placement{Weight: weight, Quote: t.Quote, Ceiling: r.IndexCeiling(t)}
}

// Quoted implements policies.Indexer. A timer whose weight has fallen stays where it is until it is met: most are met much
// later, when their weights have risen again.
func (r *round) Quoted(ctx sdk.Context, t *types.Timer) (index.Placement, error) {
	weight := r.weights.Of(ctx, t.Actor)
	if r.indexed(t) {
		weight = max(weight, t.AdmittedWeight)
	}
	return index.Placement{Weight: weight, Quote: r.SponsoredQuote(t, r.Agents.Note(t)), Ceiling: r.IndexCeiling(t)}, nil
}

// indexed reports whether a timer is in the lists of this policy.
func (*round) indexed(t *types.Timer) bool {
	return t.AdmittedWeight > 0 && lists{}.Owns(t.AdmittedWeight)
}

// Stale implements policies.Indexer: the lists of other policies are the wide ones, which come last.
func (r *round) Stale(ctx context.Context, n int) ([]merge.Entry, error) {
	return r.Parts.Index.From(ctx, merge.MakeList(merge.WideWeight, 0), n)
}

// Ranking implements policies.Indexer.
func (r *round) Ranking(ctx sdk.Context) (policies.Ranking, error) {
	return rules.OpenIndex(ctx, r.Parts.Index, r.rules, r.Prices, r.IndexReads())
}

// Blocked implements policies.Indexer: cells may cost more now than the agent's quote allows under which the timer is
// indexed. It is reindexed, so that it is not read again before timers that can fire.
func (r *round) Blocked(t *types.Timer) (index.Placement, bool) {
	if r.Agents.Ask(t, true).Kind != policy.CellPricedOut {
		return index.Placement{}, false
	}
	at := index.PlacementOf(t)
	at.Quote = t.Quote.At(r.Prices.Cell)
	return at, true
}
