// Package score binds policy score to state: its lists in the ready index, which are in the order of scores, the turns
// of units among equal scores, and the bids that it accepts.
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

// maxTurns bounds, together with CANDIDATE_WINDOW, the timers that are put in turns in a block under overload, since
// the record of each is read. It is the default MAX_TIMERS_PER_ACTOR, so that no actor alone uses it up.
const maxTurns = 1_024

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

// Params implements policies.Policy.
func (*Policy) Params() types.PolicyParams { return (*Params)(nil).Defaults() }

// Messages implements policies.Policy.
func (*Policy) Messages() policies.Messages {
	return policies.Messages{State: []types.PolicyState{&State{}}}
}

// CountsFires implements policies.Policy: turns depend on the fires of the fairness window.
func (*Policy) CountsFires() bool { return true }

// Accept implements policies.BidRules: an integer bid is paid at each fire.
func (p *Policy) Accept(ctx context.Context, config *types.TimerConfig, bid *types.Bid) (policies.Accepted, error) {
	if bid.Price == "" {
		return p.Base.Accept(ctx, config, bid)
	}
	kept, err := bid.Kept()
	return policies.Accepted{Bid: kept}, err
}

// Relock implements policies.BidRules: who pays through an allowance pays no bid, and can't state one.
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
func (p *Policy) Open(_ sdk.Context, b *policies.Block) (policies.Round, error) {
	r := &round{rules: RulesOf(types.ParamsOf[Params](&b.Config)), list: rules.ListOfEpoch(stateIn(&b.State).Epoch), recents: map[string]recent{}}
	r.Storm = policies.Storm{Window: policies.Window{Block: b, Parts: p.parts, Rules: r.rules}, Indexer: r}
	return r, nil
}

// round is the policy at work in one block.
type round struct {
	policies.Storm
	rules rules.Rules
	// list is that of the weights in force.
	list market.List
	// recents remembers how often units fired, by actor.
	recents map[string]recent
}

var _ policies.Indexer = (*round)(nil)

// recent is how often a unit fired in the fairness window.
type recent struct {
	unit  string
	fires uint64
}

// Rank implements policies.Round.
func (r *round) Rank(ctx sdk.Context) error {
	if r.Block.Storm {
		return r.OpenRanking(ctx)
	}
	r.DropUnrunnable(ctx)
	r.Sort(ctx, r.Candidate)
	return nil
}

// Candidate implements policies.Round: with how often its unit fired.
func (r *round) Candidate(ctx sdk.Context, t *types.Timer) market.Candidate {
	candidate := r.Storm.Candidate(ctx, t)
	r.setTurn(ctx, t.Actor, &candidate)
	return candidate
}

func (r *round) setTurn(ctx sdk.Context, actor sdk.AccAddress, candidate *market.Candidate) {
	of, known := r.recents[string(actor)]
	if !known {
		unit := r.Parts.Fairness.UnitOf(ctx, &r.Config, actor)
		of = recent{unit: string(unit)}
		// A record that can't be read counts as one without fires; its timers can't fire anyway.
		if fires, err := r.Recents.Of(ctx, unit); err == nil {
			of.fires = fires
		}
		r.recents[string(actor)] = of
	}
	candidate.Unit, candidate.Recent = of.unit, of.fires
}

// Weight implements policies.Indexer.
func (r *round) Weight(sdk.Context, *types.Timer) uint32 { return r.list.Weight() }

// Entries implements policies.Indexer.
func (r *round) Entries(t *types.Timer, weight uint32) []market.ListEntry {
	return []market.ListEntry{rules.EntryOf(market.ListOfWeight(weight), keyOf(r.rules, t), t.Due, t.Seq)}
}

// Lists implements policies.Indexer: that of the weights in force.
func (r *round) Lists() (from, to market.List) { return r.list, r.list + 1 }

// Ranking implements policies.Indexer: by score, and by turns where it is equal.
func (r *round) Ranking(sdk.Context) (policies.Ranking, error) {
	return rules.NewQueue(r.Index, r.list, r.takeTurns, r.IndexReads(), min(maxTurns, int(r.Config.CandidateWindow))), nil
}

// takeTurns orders timers of equal score. Those that can't fire, or are gone, have no turn. They come first, so that they
// are removed from the index.
func (r *round) takeTurns(goCtx context.Context, equal []market.ListEntry) ([]market.ListEntry, error) {
	ctx := sdk.UnwrapSDKContext(goCtx)
	out := make([]market.ListEntry, 0, len(equal))
	var candidates []market.Candidate
	var entries []market.ListEntry
	for _, entry := range equal {
		t, found, err := r.Parts.Records.InQueue(ctx, state.KeyOf(entry.Due, entry.Seq))
		switch {
		case err != nil:
			return nil, err
		case !found || t.ExpiredAt(r.Now()) || !r.Hands.Runnable(&t):
			out = append(out, entry)
		default:
			candidates = append(candidates, r.Candidate(ctx, &t))
			entries = append(entries, entry)
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

// Weigh implements policies.Estimator: with the turn that the actor's next timer has.
func (r *round) Weigh(ctx sdk.Context, actor sdk.AccAddress, c *market.Candidate) math.LegacyDec {
	if actor != nil {
		r.setTurn(ctx, actor, c)
	}
	return r.Storm.Weigh(ctx, actor, c)
}

// LockedBid implements policies.Estimator: nothing is locked, and a bid is refused that scheduling would refuse.
func (*round) LockedBid(bid string) (math.Int, error) {
	_, err := (&types.Bid{Price: bid}).Kept()
	return math.ZeroInt(), err
}
