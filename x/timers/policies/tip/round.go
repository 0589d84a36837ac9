package tip

import (
	"cmp"
	"slices"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/logmap"
	"github.com/cosmos-timers/timers/x/timers/market"
	rules "github.com/cosmos-timers/timers/x/timers/market/tip"
	"github.com/cosmos-timers/timers/x/timers/policies"
	"github.com/cosmos-timers/timers/x/timers/report"
	"github.com/cosmos-timers/timers/x/timers/schedule"
	"github.com/cosmos-timers/timers/x/timers/state"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// maxFundChecks bounds the unfunded timers of which a block checks whether their payers have funds again. They take
// turns.
const maxFundChecks = 16

// round is the policy at work in one block.
type round struct {
	policies.Window
	rules   rules.Rules
	weights *weights
	reader  *logmap.Reader
	epoch   uint64
	rule    rules.WeightRule
	// slices are the actors' parts of the lane. In the first pass, timers that their slice does not admit are put off;
	// the second pass tries those in the same order.
	slices     rules.Slices
	putOff     []int
	secondPass bool

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

// Collect implements policies.Round: it reads the window. If more timers are ready than it holds, half of it is for the
// oldest, a quarter for those that became due in this block, and a quarter for the others in rounds, so that every
// timer competes in the end. If the window held the oldest only, timers that wait for ever, for a lower price or for
// their payers, would exclude all others.
func (r *round) Collect(ctx sdk.Context) error {
	if err := r.ReadLeftovers(ctx, r.Parts.Records); err != nil {
		return err
	}
	live, reached, complete, err := r.ReadLive(ctx, r.Parts.Records, r.Config.CandidateWindow)
	if err != nil {
		return err
	}
	r.Overloaded = !complete
	if complete {
		changeState(&r.State, func(s *State) { s.Round = types.QueueKey{} })
	} else if live, err = r.share(ctx, live, reached); err != nil {
		return err
	}
	r.Compete(live)
	return r.SweepQueue(ctx, r.Parts.Records, reached, complete)
}

// share replaces the younger half of a window that does not hold all that is ready.
func (r *round) share(ctx sdk.Context, live []types.Timer, reached schedule.Key) ([]types.Timer, error) {
	window := r.Config.CandidateWindow
	fresh, going := window/4, max(1, window/4)
	if oldest := int(window - fresh - going); len(live) > oldest {
		reached = state.KeyOf(live[oldest].Due, live[oldest].Seq)
		live = live[:oldest]
	}
	now := schedule.Key{Due: r.Height}
	from := state.CalendarKey(stateIn(&r.State).Round)
	if from.Compare(reached) < 0 {
		from = reached
	}
	more, next, err := r.ReadMore(ctx, r.Parts.Records, from, now, going, market.ReadWindow)
	if err != nil {
		return nil, err
	}
	live = append(live, more...)
	place := state.QueueKey(next)
	if next.Compare(now) >= 0 {
		place = types.QueueKey{}
	}
	changeState(&r.State, func(s *State) { s.Round = place })
	if now.Compare(reached) < 0 {
		now = reached
	}
	more, _, err = r.ReadMore(ctx, r.Parts.Records, now, schedule.Key{Due: r.Height + 1}, fresh, market.ReadNewlyDue)
	return append(live, more...), err
}

// Rank implements policies.Round. Before it ranks the candidates, it checks the funds of timers that wait for their
// payers, and raises the weights of starved actors.
func (r *round) Rank(ctx sdk.Context) (err error) {
	r.DropUnrunnable(ctx)
	if err := r.Agents.AskAll(ctx, r.Ready); err != nil {
		return err
	}
	r.checkFunds(ctx)
	for i := range r.Ready {
		t := &r.Ready[i]
		weight := r.weightOf(ctx, t.Actor)
		if floor := rules.Units(r.rule.Floor); weight < floor && r.starves(ctx, t) {
			r.known[string(t.Actor)] = floor
		}
	}
	r.restUnfunded(ctx)
	candidates := r.Sort(ctx, r.Candidate)
	r.slices = r.rules.Slices(candidates, r.Order)
	return r.DropPricedOut(ctx)
}

// restUnfunded puts the unfunded timers of the window on hold, if more are ready than it holds. So they don't fill it. They
// return when their payers can cover them.
func (r *round) restUnfunded(ctx sdk.Context) {
	if !r.Overloaded {
		return
	}
	funded := r.Ready[:0]
	for i := range r.Ready {
		t := r.Ready[i]
		if t.UnfundedSince == 0 {
			funded = append(funded, t)
			continue
		}
		t.UnfundedSince = 0
		r.Hands.PutOnHold(ctx, &t, types.Unfunded)
	}
	r.Ready, r.Competing = funded, uint32(len(funded))
}

// Next implements policies.Round: first the timers that fit their actors' slices of the lane, then those that were put
// off.
func (r *round) Next(sdk.Context) (policies.Turn, bool, error) {
	for r.HasRoom() {
		turn, found := r.Take()
		switch {
		case !found && r.secondPass:
			return policies.Turn{}, false, nil
		case !found:
			r.Order, r.Turn, r.secondPass = r.putOff, 0, true
		case !r.secondPass && !r.slices.Admits(string(turn.Timer.Actor), r.SizeOf(turn.Timer)):
			r.putOff = append(r.putOff, r.Order[r.Turn-1])
		default:
			return turn, true, nil
		}
	}
	return policies.Turn{}, false, nil
}

// Candidate implements policies.Round: with the actor's weight.
func (r *round) Candidate(ctx sdk.Context, t *types.Timer) market.Candidate {
	candidate := r.Window.Candidate(ctx, t)
	candidate.Weight, candidate.Unfunded = r.weightOf(ctx, t.Actor), t.UnfundedSince > 0
	return candidate
}

// record reads the record of an actor, nil if there is none.
func (r *round) record(ctx sdk.Context, actor sdk.AccAddress) (*Weight, error) {
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
func (r *round) weightOf(ctx sdk.Context, actor sdk.AccAddress) uint32 {
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

// starves reports whether a competing timer shows that its actor is starved: it has been due for STARVATION_BLOCKS, and
// no timer of the actor has fired meanwhile. An actor with many timers that fire one by one is not starved.
func (r *round) starves(ctx sdk.Context, t *types.Timer) bool {
	record, err := r.record(ctx, t.Actor)
	if err != nil || t.UnfundedSince > 0 || !r.rule.Starved(t.DueSince(), lastFire(record, r.epoch), r.Height) {
		return false
	}
	_, willing := r.Price(t)
	return willing
}

// checkFunds checks whether the payers of maxFundChecks unfunded timers of the window have funds again, in turns by
// seq. Timers whose payers do compete from this block on.
func (r *round) checkFunds(ctx sdk.Context) {
	var waiting []int
	for i := range r.Ready {
		if r.Ready[i].UnfundedSince > 0 {
			waiting = append(waiting, i)
		}
	}
	bySeq := func(i int, seq uint64) int { return cmp.Compare(r.Ready[i].Seq, seq) }
	slices.SortFunc(waiting, func(i, j int) int { return bySeq(i, r.Ready[j].Seq) })
	first, _ := slices.BinarySearchFunc(waiting, stateIn(&r.State).Checked+1, bySeq)
	checked := stateIn(&r.State).Checked
	for n := range min(len(waiting), maxFundChecks) {
		t := &r.Ready[waiting[(first+n)%len(waiting)]]
		checked = t.Seq
		r.Hands.Guard(ctx, t, func(ctx sdk.Context) error { return r.checkFundsOf(ctx, t) })
	}
	changeState(&r.State, func(s *State) { s.Checked = checked })
	// What could not be marked is quarantined.
	r.Ready = slices.DeleteFunc(r.Ready, func(t types.Timer) bool { return t.HoldReason != types.NotOnHold })
	r.Competing = uint32(len(r.Ready))
}

// checkFundsOf lets a timer compete again if its payer can cover it at this block's prices.
func (r *round) checkFundsOf(ctx sdk.Context, t *types.Timer) error {
	price, willing := r.Price(t)
	if !willing || !r.Parts.Fees.Covers(ctx, &r.Config, t, price.Cost(t.GasLimit, t.CellLimit)) {
		return nil
	}
	t.UnfundedSince = 0
	return r.Parts.Records.Put(ctx, t)
}

// Unfunded implements policies.Round: lack of funds defers a timer. It does not compete again until its payer can cover
// it, so that it costs one try. If more timers are ready than the window holds, it is put on hold meanwhile. Otherwise it
// stays in the queue, and the GC lane bounds how many timers are marked so in a block; the others stay as they are. With
// on_unfunded suspend the timer is suspended instead.
func (r *round) Unfunded(ctx sdk.Context, t *types.Timer, required math.Int) policies.Disposition {
	if r.Overloaded {
		r.note(t.Actor).unfunded++
		return policies.Leaves
	}
	if r.GC.Remaining() == 0 {
		return policies.Waits
	}
	r.note(t.Actor).unfunded++
	if t.Spec.OnUnfunded == types.OnUnfundedSuspend {
		return policies.Leaves
	}
	r.GC.Take(1)
	available := r.Parts.Fees.Spendable(ctx, &r.Config, t.Payer())
	done := r.Hands.Guard(ctx, t, func(ctx sdk.Context) error {
		t.UnfundedSince = r.Height
		if err := r.Parts.Records.Put(ctx, t); err != nil {
			return err
		}
		return report.Emit(ctx, &types.TimerDeferredInsufficientFunds{
			Id: t.IDHex(), Actor: r.Parts.Addresses.Text(t.Actor), Payer: r.Parts.Addresses.Text(t.Payer()),
			Required: required.String(), Available: available.String(), AllowanceRefused: available.GTE(required),
		})
	})
	if !done {
		r.Left++
	}
	return policies.Waits
}

// note is what this block adds to the actor's record.
func (r *round) note(actor sdk.AccAddress) *blockStats {
	note := r.noted[string(actor)]
	if note == nil {
		note = &blockStats{}
		r.noted[string(actor)] = note
		r.actors = append(r.actors, actor)
	}
	return note
}

// Fired implements policies.Round: it records a fire for its actor's score, and books it to the actor's slice.
func (r *round) Fired(_ sdk.Context, f policies.Fire) {
	t := f.Timer
	note := r.note(t.Actor)
	note.fires = append(note.fires, rules.Fire{
		Tip: f.Priority, P50: r.Prices.P50, Success: f.Receipt.Success || f.Receipt.Guarded, Late: r.Height - t.DueSince(),
	})
	note.cycles += f.Receipt.Cycles
	if r.rule.Starved(t.DueSince(), lastFire(r.records[string(t.Actor)], r.epoch), r.Height) {
		note.starved = true
	}
	if !r.secondPass {
		r.slices.Spend(string(t.Actor), f.Receipt.Cycles)
	}
}

// Close implements policies.Round: it writes what this block adds to the records of its actors. A record that can't be
// read stays as it is, and affects that actor only.
func (r *round) Close(ctx sdk.Context) (math.Int, error) {
	var scored []change
	for _, actor := range r.actors {
		record, err := r.record(ctx, actor)
		if err != nil {
			ctx.Logger().Error("can't score an actor", "module", types.ModuleName, "actor", actor, "err", err)
			continue
		}
		scored = append(scored, change{actor, record, r.score(actor, record)})
	}
	return math.ZeroInt(), r.weights.write(ctx, r.epoch, r.Height, scored)
}

// score is an actor's record with what this block adds to it.
func (r *round) score(actor sdk.AccAddress, record *Weight) Weight {
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
		r.rule.EndBlock(&stats, note.cycles, r.Config.LaneTimerCycles)
		next.LastFire = r.Height
	}
	setStats(&next, stats)
	if stateIn(&r.State).Oldest == 0 {
		changeState(&r.State, func(s *State) { s.Oldest = next.Epoch })
	}
	return next
}

// Weigh implements policies.Estimator: without an actor, it is the neutral weight.
func (r *round) Weigh(ctx sdk.Context, actor sdk.AccAddress, c *market.Candidate) math.LegacyDec {
	c.Weight = rules.Units(r.rule.Neutral)
	if actor != nil {
		c.Weight = r.weightOf(ctx, actor)
	}
	return math.LegacyNewDec(int64(c.Weight)).QuoInt64(rules.WeightUnits)
}

// Affordable implements policies.Estimator: there is no lane basefee that could fall.
func (r *round) Affordable(c market.Candidate, _ func()) (uint64, error) {
	if c.Ask.SpendCap.Exhausted() {
		return 0, policies.TooLowCharge(r.Prices)
	}
	return 0, status.Errorf(codes.InvalidArgument, "max_fee %s is below the chain's cycle basefee %s: such a timer waits until that falls",
		c.Ask.Stated.MaxFee, r.Prices.Cycle)
}
