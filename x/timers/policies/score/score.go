// Package score binds policy score to state: its lists in the ready index, which are in the order of scores, how units alternate
// among equal scores, and the bids that it accepts.
package score

import (
	"context"

	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/market"
	rules "github.com/cosmos-timers/timers/x/timers/market/score"
	"github.com/cosmos-timers/timers/x/timers/policies"
	"github.com/cosmos-timers/timers/x/timers/state"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// maxAlternating bounds, together with CANDIDATE_WINDOW, the timers among which units alternate in a block under overload, since
// the record of each is read. It is the default MAX_TIMERS_PER_ACTOR, so that no actor alone uses it up.
const maxAlternating = 1_024

// Policy score.
type Policy struct {
	policies.Base
	parts *policies.Parts
}

var (
	_ policies.Policy = (*Policy)(nil)
	_ state.ListOwner = (*Policy)(nil)
)

// New binds the policy.
func New(parts *policies.Parts) policies.Policy {
	p := &Policy{parts: parts}
	parts.Index.Own(p)
	return p
}

// ID implements policies.Policy.
func (*Policy) ID() types.Policy { return types.PolicyScore }

// Rules implements policies.Policy.
func (*Policy) Rules(config *types.TimerConfig, _ *types.LaneState) market.Rules {
	return RulesOf(types.ParamsOf[Params](config))
}

// Messages implements policies.Guest.
func (*Policy) Messages() policies.Messages {
	return policies.Messages{Params: (*Params)(nil).Defaults(), State: []types.PolicyState{&State{}}}
}

// Traits implements policies.Policy: equal scores are ordered by the fires of the fairness window.
func (p *Policy) Traits(config *types.TimerConfig) market.Traits {
	traits := p.Base.Traits(config)
	traits.CountsFires = true
	return traits
}

// Accept implements policies.Policy: an integer bid is paid at each fire.
func (p *Policy) Accept(ctx context.Context, config *types.TimerConfig, bid *types.Bid) (policies.Accepted, error) {
	if bid.Price == "" {
		return p.Base.Accept(ctx, config, bid)
	}
	kept, err := bid.Kept()
	return policies.Accepted{Bid: kept}, err
}

// Relock implements policies.Policy: who pays through an allowance pays no bid, and can't state one.
func (*Policy) Relock(_ context.Context, _ *types.TimerConfig, t *types.Timer, inForce bool) error {
	if inForce && t.Sponsored() && t.Spec.Bid.Stated().IsPositive() {
		return types.ErrInvalidBid.Wrapf("a fee allowance pays no bid: state none instead of %s, or let the actor pay", t.Spec.Bid.Stated())
	}
	return nil
}

// Activate implements policies.Policy: a change of the weights begins a new list.
func (p *Policy) Activate(ctx context.Context, before, after *types.TimerConfig) error {
	if types.ParamsOf[Params](before).Same(types.ParamsOf[Params](after)) {
		return nil
	}
	lane, err := p.parts.Lane.Get(ctx)
	if err != nil {
		return err
	}
	state := stateIn(&lane)
	state.Epoch++
	lane.SetPolicy(&state)
	return p.parts.Lane.Set(ctx, lane)
}

// Owns implements state.ListOwner.
func (*Policy) Owns(weight uint32) bool { return market.ListOfWeight(weight).Wide() }

// Summarized implements state.ListOwner: there is one list, which is read from its head.
func (*Policy) Summarized(market.List) bool { return false }

// Entries implements state.ListOwner.
func (*Policy) Entries(of market.ListEntry) []market.ListEntry { return []market.ListEntry{of} }

// keyOf is the timer's score as it is indexed.
func keyOf(r rules.Rules, t *types.Timer) []byte {
	ask := t.Ask()
	if t.Sponsored() {
		ask.Price = math.Int{}
	}
	return rules.Key(r.TimelessScore(market.Candidate{Due: t.DueSince(), Seq: t.Seq, Ask: ask}))
}

// Open implements policies.Policy.
func (p *Policy) Open(_ sdk.Context, b *policies.Block) (market.Rules, error) {
	return &inForce{
		Rules: RulesOf(types.ParamsOf[Params](&b.Config)), parts: p.parts, block: b,
		list: rules.ListOfEpoch(stateIn(&b.State).Epoch), recents: map[string]recent{},
	}, nil
}

// inForce are the rules of a block, with the fires of units.
type inForce struct {
	rules.Rules
	parts *policies.Parts
	block *policies.Block
	// list is that of the weights in force.
	list market.List
	// recents remembers how often units fired, by actor.
	recents map[string]recent
}

// recent is how often a unit fired in the fairness window.
type recent struct {
	unit  string
	fires uint64
}

// Weigh implements contest.Weigher: with how often its unit fired.
func (r *inForce) Weigh(ctx sdk.Context, actor sdk.AccAddress, candidate *market.Candidate) {
	if actor == nil {
		return
	}
	of, known := r.recents[string(actor)]
	if !known {
		unit := r.parts.Fairness.UnitOf(ctx, &r.block.Config, actor)
		of = recent{unit: string(unit)}
		// A record that can't be read counts as one without fires; its timers can't fire anyway.
		if fires, err := r.block.Recents.Of(ctx, unit); err == nil {
			of.fires = fires
		}
		r.recents[string(actor)] = of
	}
	candidate.Unit, candidate.Recent = of.unit, of.fires
}

// Lists implements contest.Indexer: that of the weights in force.
func (r *inForce) Lists() (from, to market.List) { return r.list, r.list + 1 }

// Weight implements contest.Indexer.
func (r *inForce) Weight(sdk.Context, sdk.AccAddress) uint32 { return r.list.Weight() }

// Entries implements contest.Indexer.
func (r *inForce) Entries(t *types.Timer, _ market.Ask, weight uint32) []market.ListEntry {
	return []market.ListEntry{rules.EntryOf(market.ListOfWeight(weight), keyOf(r.Rules, t), t.Due, t.Seq)}
}

// Ranking implements contest.Indexer: by score, and where it is equal units alternate.
func (r *inForce) Ranking(
	_ sdk.Context, store market.ListSummary, reads int, look func(context.Context, market.ListEntry) (market.Candidate, bool, error),
) (market.Ranking, error) {
	alternate := func(ctx context.Context, equal []market.ListEntry) ([]market.ListEntry, error) {
		return alternating(ctx, equal, look)
	}
	return rules.NewQueue(store, r.list, alternate, reads, min(maxAlternating, int(r.block.Config.CandidateWindow))), nil
}

// alternating orders timers of equal score. Those that can't fire, or are gone, come first, so that they are removed from the index.
func alternating(
	ctx context.Context, equal []market.ListEntry, look func(context.Context, market.ListEntry) (market.Candidate, bool, error),
) ([]market.ListEntry, error) {
	out := make([]market.ListEntry, 0, len(equal))
	var candidates []market.Candidate
	var entries []market.ListEntry
	for _, entry := range equal {
		candidate, can, err := look(ctx, entry)
		switch {
		case err != nil:
			return nil, err
		case !can:
			out = append(out, entry)
		default:
			candidates, entries = append(candidates, candidate), append(entries, entry)
		}
	}
	order := make([]int, len(candidates))
	for i := range order {
		order[i] = i
	}
	rules.TakeTurns(candidates, order)
	for _, i := range order {
		out = append(out, entries[i])
	}
	return out, nil
}
