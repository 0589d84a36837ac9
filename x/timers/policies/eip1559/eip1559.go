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
	"github.com/cosmos-timers/timers/x/timers/state"
	"github.com/cosmos-timers/timers/x/timers/state/index"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// Policy eip1559.
type Policy struct {
	policies.Base
	parts *policies.Parts
}

var _ policies.Policy = (*Policy)(nil)

// New binds the policy.
func New(parts *policies.Parts) policies.Policy {
	p := &Policy{parts: parts}
	parts.Index.Own(lists{})
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
func (lists) Entries(of merge.Entry) []merge.Entry {
	return rules.EntriesOf(rules.AskOf(of), of.List.Weight(), of.Due, of.Seq)
}

// round is the policy at work in one block.
type round struct {
	policies.Storm
	rules   rules.Rules
	weights *policies.Weights
}

var _ policies.Indexer = (*round)(nil)

// Rank implements policies.Round.
func (r *round) Rank(ctx sdk.Context) error {
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
func (r *round) askAdmitted(ctx sdk.Context) error {
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
func (r *round) Candidate(ctx sdk.Context, t *types.Timer) policy.Candidate {
	candidate := r.Storm.Candidate(ctx, t)
	candidate.Weight = r.weights.Of(ctx, t.Actor)
	return candidate
}

// Weight implements policies.Indexer.
func (r *round) Weight(ctx sdk.Context, t *types.Timer) uint32 { return r.weights.Of(ctx, t.Actor) }

// Entries implements policies.Indexer.
func (r *round) Entries(t *types.Timer, weight uint32) []merge.Entry {
	return rules.EntriesOf(r.IndexedAsk(t), weight, t.Due, t.Seq)
}

// Lists implements policies.Indexer: those of other policies are the wide ones, which come last.
func (r *round) Lists() (from, to merge.List) {
	return merge.ListOfWeight(1), merge.ListOfWeight(merge.WideWeight)
}

// Ranking implements policies.Indexer.
func (r *round) Ranking(ctx sdk.Context) (policies.Ranking, error) {
	return rules.OpenIndex(ctx, r.Index, r.rules, r.Prices, r.IndexReads())
}
