package policy

import "cosmossdk.io/math"

// WeightUnits is how many units of Candidate.Weight make the weight 1 under policy tip.
const WeightUnits = 1_000_000

// ForgottenAfter is how many epochs in a row without anything to score it takes for an actor to be forgotten: its weight is
// the neutral one then, whatever it was.
const ForgottenAfter = 64

// Weighing is how the weight of an actor under policy tip follows what its fires were (SPEC §6). Time goes in epochs of
// TIP_EPOCH_BLOCKS; a weight is fixed within one. From an epoch with anything to score to the next:
//
//	weight' = clip((1 − Decay) × weight + Decay × score, Min, Max), at least Floor if the actor was starved
//	score   = Shares.Tip      × mean over its fires of tip ÷ (tip + p50), ½ if both are 0
//	        + Shares.Outcome  × mean over its fires and tries of 1 for success, ½ for failure, 0 for want of funds
//	        + Shares.Lateness × mean over its fires of min(late, LateBlocks) ÷ LateBlocks
//	        + Shares.Budget   × (1 − mean over the blocks with a fire of its cycles ÷ LANE_TIMER_CYCLES)
//
// with a score of 0 if nothing fired. Being deferred for want of room is no outcome of the actor's making: lateness and the
// floor make up for it. From an epoch without anything to score to the next:
//
//	weight' = Neutral + (1 − Inactivity) × (weight − Neutral)
//
// and after ForgottenAfter of those in a row it is Neutral. All parts, and so the score, are from 0 to 1; products and
// quotients truncate.
type Weighing struct {
	// Decay is λ, from 0 to 1.
	Decay math.LegacyDec
	// Min, Max, Neutral and Floor are weights. Invariant: 0 < Min ≤ Neutral, Floor ≤ Max ≤ 1.
	Min, Max, Neutral, Floor math.LegacyDec
	// Inactivity is from 0 to 1.
	Inactivity math.LegacyDec
	Shares     Shares
	// LateBlocks and StarvationBlocks are at least 1.
	LateBlocks, StarvationBlocks uint64
}

// Shares are those of a score. Invariant: none is negative, and they sum up to 1.
type Shares struct{ Tip, Outcome, Lateness, Budget math.LegacyDec }

// Observed sums up what there is to score of an actor in one epoch.
type Observed struct {
	// Fires, Blocks with any, and tries that ended for want of funds.
	Fires, Blocks, Unfunded uint64
	// Tip, Outcome and Lateness sum up those parts of the fires, Use that of the blocks.
	Tip, Outcome, Lateness, Use math.LegacyDec
	// Starved: a fire of the epoch ended a starvation.
	Starved bool
}

// NothingObserved is the sum of nothing.
func NothingObserved() Observed {
	zero := math.LegacyZeroDec()
	return Observed{Tip: zero, Outcome: zero, Lateness: zero, Use: zero}
}

// History is what is known of an actor.
type History struct {
	// Weight in Epoch, the last one with anything to score.
	Weight math.LegacyDec
	Epoch  uint64
	// Observed in that epoch.
	Observed Observed
}

// Fire is what a fire adds to what is observed of its actor.
type Fire struct {
	// Tip per cycle that it paid, P50 the usual one.
	Tip, P50 math.LegacyDec
	Success  bool
	// Late is by how many blocks.
	Late uint64
}

// Fire notes a fire.
func (w Weighing) Fire(o *Observed, fire Fire) {
	o.Fires++
	o.Tip = o.Tip.Add(relativeTip(fire.Tip, fire.P50))
	o.Outcome = o.Outcome.Add(outcome(fire.Success))
	o.Lateness = o.Lateness.Add(ratio(fire.Late, w.LateBlocks))
}

// EndBlock notes what the fires of one block took of the lane, in cycles.
func (w Weighing) EndBlock(o *Observed, cycles, capacity uint64) {
	o.Blocks++
	o.Use = o.Use.Add(ratio(cycles, capacity))
}

// relativeTip is tip ÷ (tip + p50): ½ for the usual tip, 1 for one that is out of all proportion.
func relativeTip(tip, p50 math.LegacyDec) math.LegacyDec {
	sum := tip.Add(p50)
	if sum.IsZero() {
		return half()
	}
	return tip.QuoTruncate(sum)
}

func outcome(success bool) math.LegacyDec {
	if success {
		return math.LegacyOneDec()
	}
	return half()
}

// ratio is part ÷ whole, at most 1.
func ratio(part, whole uint64) math.LegacyDec {
	if part >= whole {
		return math.LegacyOneDec()
	}
	return decimal(part).QuoTruncate(decimal(whole))
}

// mean is sum ÷ n, 0 for none.
func mean(sum math.LegacyDec, n uint64) math.LegacyDec {
	if n == 0 {
		return math.LegacyZeroDec()
	}
	return sum.QuoTruncate(decimal(n))
}

func half() math.LegacyDec { return math.LegacyNewDecWithPrec(5, 1) }

func decimal(n uint64) math.LegacyDec { return math.LegacyNewDecFromInt(math.NewIntFromUint64(n)) }

// Score is that of an epoch, from 0 to 1.
func (w Weighing) Score(o Observed) math.LegacyDec {
	if o.Fires == 0 {
		return math.LegacyZeroDec()
	}
	spared := math.LegacyOneDec().Sub(mean(o.Use, o.Blocks))
	return w.Shares.Tip.MulTruncate(mean(o.Tip, o.Fires)).
		Add(w.Shares.Outcome.MulTruncate(mean(o.Outcome, o.Fires+o.Unfunded))).
		Add(w.Shares.Lateness.MulTruncate(mean(o.Lateness, o.Fires))).
		Add(w.Shares.Budget.MulTruncate(spared))
}

// Next is the weight in the epoch after one with something to score.
func (w Weighing) Next(weight math.LegacyDec, o Observed) math.LegacyDec {
	kept := math.LegacyOneDec().Sub(w.Decay).MulTruncate(weight)
	next := w.clip(kept.Add(w.Decay.MulTruncate(w.Score(o))))
	if o.Starved {
		next = math.LegacyMaxDec(next, w.Floor)
	}
	return next
}

// idle is the weight after so many epochs without anything to score.
func (w Weighing) idle(weight math.LegacyDec, epochs uint64) math.LegacyDec {
	if epochs >= ForgottenAfter {
		return w.Neutral
	}
	kept, distance := math.LegacyOneDec().Sub(w.Inactivity), weight.Sub(w.Neutral)
	for range epochs {
		// Towards zero, either way.
		distance = distance.MulTruncate(kept)
	}
	return w.Neutral.Add(distance)
}

// WeightIn is the weight of an actor in an epoch, not before that of its history. Bounds that changed since hold at once.
func (w Weighing) WeightIn(h History, epoch uint64) math.LegacyDec {
	weight := w.clip(h.Weight)
	if epoch <= h.Epoch {
		return weight
	}
	return w.idle(w.Next(weight, h.Observed), epoch-h.Epoch-1)
}

// Starved tells whether an actor that has a timer due, and whose last fire was at the height, 0 for none, waits at now for
// as long as the floor wants.
func (w Weighing) Starved(due, lastFire, now uint64) bool {
	return now-min(now, max(due, lastFire)) >= w.StarvationBlocks
}

// Units is a weight as candidates carry it, rounded down.
func Units(weight math.LegacyDec) uint32 {
	return uint32(weight.MulInt64(WeightUnits).TruncateInt64())
}

func (w Weighing) clip(weight math.LegacyDec) math.LegacyDec {
	return math.LegacyMinDec(math.LegacyMaxDec(weight, w.Min), w.Max)
}
