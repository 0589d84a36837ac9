package tip

import (
	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/logmap"
	"github.com/cosmos-timers/timers/x/timers/market"
	rules "github.com/cosmos-timers/timers/x/timers/market/tip"
	"github.com/cosmos-timers/timers/x/timers/policies"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// inForce are the rules of a block, with the weights of actors.
type inForce struct {
	rules.Rules
	block   *policies.Block
	weights *weights
	reader  *logmap.Reader
	epoch   uint64
	rule    rules.WeightRule

	// known weights, and records that were read, by actor; nil for none. Looked up, never ranged over.
	known   map[string]uint32
	records map[string]*Weight
	// noted is what this block adds to an actor's record; actors lists the actors in the order of their first entry.
	noted  map[string]*blockStats
	actors []sdk.AccAddress
}

// blockStats is what a block adds to an actor's record.
type blockStats struct {
	fires    []rules.Fire
	cycles   uint64
	unfunded uint64
	starved  bool
}

// record reads the record of an actor, nil if there is none.
func (r *inForce) record(ctx sdk.Context, actor sdk.AccAddress) (*Weight, error) {
	if record, known := r.records[string(actor)]; known {
		return record, nil
	}
	record, err := r.weights.get(ctx, r.reader, actor)
	if err == nil {
		r.records[string(actor)] = record
	}
	return record, err
}

// weightOf is the actor's weight in this block, in rules.WeightUnits: that of the epoch, or the starvation floor if
// that is more and the actor is starved. An actor whose record can't be read has the least weight.
func (r *inForce) weightOf(ctx sdk.Context, actor sdk.AccAddress) uint32 {
	if weight, known := r.known[string(actor)]; known {
		return weight
	}
	weight := r.rule.Min
	if record, err := r.record(ctx, actor); err == nil {
		weight = weightIn(r.rule, record, r.epoch)
	}
	r.known[string(actor)] = rules.Units(weight)
	return r.known[string(actor)]
}

// Weigh implements contest.Weigher. A candidate that shows that its actor is starved raises the actor's weight; one without an
// actor has the neutral weight.
func (r *inForce) Weigh(ctx sdk.Context, actor sdk.AccAddress, c *market.Candidate) {
	if actor == nil {
		c.Weight = rules.Units(r.rule.Neutral)
		return
	}
	c.Weight = r.weightOf(ctx, actor)
	if floor := rules.Units(r.rule.Floor); c.Weight < floor && r.starves(ctx, actor, c) {
		r.known[string(actor)], c.Weight = floor, floor
	}
}

// Order implements market.Rules. All timers of an actor have the weight that it was given last.
func (r *inForce) Order(prices market.Prices, candidates []market.Candidate) []int {
	for i := range candidates {
		if weight, known := r.known[candidates[i].Actor]; known {
			candidates[i].Weight = weight
		}
	}
	return r.Rules.Order(prices, candidates)
}

// starves reports whether a candidate shows that its actor is starved: it has been due for STARVATION_BLOCKS, and
// no timer of the actor has fired meanwhile. An actor with many timers that fire one by one is not starved.
func (r *inForce) starves(ctx sdk.Context, actor sdk.AccAddress, c *market.Candidate) bool {
	record, err := r.record(ctx, actor)
	if err != nil || c.Unfunded || !r.rule.Starved(c.Due, lastFire(record, r.epoch), r.block.Height) {
		return false
	}
	_, willing := r.Price(r.block.Prices, *c)
	return willing
}

// note is what this block adds to the actor's record.
func (r *inForce) note(actor sdk.AccAddress) *blockStats {
	note := r.noted[string(actor)]
	if note == nil {
		note = &blockStats{}
		r.noted[string(actor)] = note
		r.actors = append(r.actors, actor)
	}
	return note
}

// Tried implements policies.Follower: it records a fire, or that it lacked the funds, for its actor's score.
func (r *inForce) Tried(_ sdk.Context, a policies.Attempt) (wanted bool) {
	switch a.Verdict {
	case types.VerdictFires:
		r.fired(&a)
	case types.VerdictNoFunds:
		r.note(a.Timer.Actor).unfunded++
	default:
	}
	return false
}

func (r *inForce) fired(f *policies.Attempt) {
	t := f.Timer
	note := r.note(t.Actor)
	note.fires = append(note.fires, rules.Fire{
		Tip: f.Priority, P50: r.block.Prices.P50, Success: f.Receipt.Success || f.Receipt.Guarded, Late: r.block.Height - t.DueSince(),
	})
	note.cycles += f.Receipt.Cycles
	if r.rule.Starved(t.DueSince(), lastFire(r.records[string(t.Actor)], r.epoch), r.block.Height) {
		note.starved = true
	}
}

// Close implements policies.Follower: it writes what this block adds to the records of its actors. A record that can't be
// read stays as it is, and affects that actor only.
func (r *inForce) Close(ctx sdk.Context) (math.Int, error) {
	var scored []change
	for _, actor := range r.actors {
		record, err := r.record(ctx, actor)
		if err != nil {
			ctx.Logger().Error("can't score an actor", "module", types.ModuleName, "actor", actor, "err", err)
			continue
		}
		scored = append(scored, change{actor, record, r.score(actor, record)})
	}
	return math.ZeroInt(), r.weights.write(ctx, r.epoch, r.block.Height, scored)
}

// score is an actor's record with what this block adds to it.
func (r *inForce) score(actor sdk.AccAddress, record *Weight) Weight {
	next := Weight{Weight: weightIn(r.rule, record, r.epoch), Epoch: r.epoch, LastFire: lastFire(record, r.epoch)}
	stats := rules.NoStats()
	if record != nil && record.Epoch == r.epoch {
		stats = statsOf(record)
	}
	note := r.noted[string(actor)]
	stats.Unfunded += note.unfunded
	stats.Starved = stats.Starved || note.starved
	for _, fire := range note.fires {
		r.rule.Fire(&stats, fire)
	}
	if len(note.fires) > 0 {
		r.rule.EndBlock(&stats, note.cycles, r.block.Config.LaneTimerCycles)
		next.LastFire = r.block.Height
	}
	setStats(&next, stats)
	if stateIn(&r.block.State).Oldest == 0 {
		changeState(&r.block.State, func(s *State) { s.Oldest = next.Epoch })
	}
	return next
}
