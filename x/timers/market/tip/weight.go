package tip

import "cosmossdk.io/math"

// WeightUnits is the weight 1 in units of market.Candidate.Weight under policy tip. They are finer than the sixteenths
// of market.WeightBounds, because no index has lists by this weight.
const WeightUnits = 1_000_000

// ForgottenAfter is the number of consecutive epochs without anything to score after which an actor's weight is
// neutral, whatever it was. So older records can be removed from the state.
const ForgottenAfter = 64

// WeightRule computes the weight of an actor from its fires (x/timers/docs/use/market.md, "Policy tip"). Time is divided
// into epochs of TIP_EPOCH_BLOCKS, and a weight is fixed within one. From an epoch with anything to score to the next:
//
//	weight' = clip((1 − Decay) × weight + Decay × score, Min, Max), at least Floor if the actor was starved
//	score   = Shares.Tip      × mean over its fires of tip ÷ (tip + p50), ½ if both are 0
//	        + Shares.Outcome  × mean over its fires and tries of 1 for success, ½ for failure, 0 for lack of funds
//	        + Shares.Lateness × mean over its fires of min(late, LateBlocks) ÷ LateBlocks
//	        + Shares.Budget   × (1 − mean over the blocks with a fire of its cycles ÷ LANE_TIMER_CYCLES)
//
// The score is 0 without a fire. A timer that is deferred because the lane was full is no outcome, since the actor did
// not cause that; lateness and the floor compensate for it. From an epoch without anything to score to the next:
//
//	weight' = Neutral + (1 − Inactivity) × (weight − Neutral)
//
// and after ForgottenAfter of those in a row it is Neutral. Invariant: every part, and so the score, is from 0 to 1.
// Products and quotients are truncated, so that rounding never takes a score above 1.
type WeightRule struct {
	// Decay is the weight of the newest epoch, from 0 to 1.
	Decay math.LegacyDec
	// Min, Max, Neutral and Floor are weights. Invariant: 0 < Min ≤ Neutral, Floor ≤ Max ≤ 1.
	Min, Max, Neutral, Floor math.LegacyDec
	// Inactivity is the part of the distance to Neutral that is lost in an epoch, from 0 to 1.
	Inactivity math.LegacyDec
	Shares     Shares
	// LateBlocks is the lateness that scores fully; StarvationBlocks is the wait from which an actor is starved. Both
	// are at least 1.
	LateBlocks, StarvationBlocks uint64
}

// Shares are the weights of the parts of a score. Invariant: none is negative, and they sum up to 1.
type Shares struct{ Tip, Outcome, Lateness, Budget math.LegacyDec }

// EpochStats sums up the fires of an actor in one epoch. Sums, and not means, are kept: a sum of terms that are each
// rounded down once does not depend on the order of the fires.
type EpochStats struct {
	// Fires, Blocks with at least one, and tries that ended for lack of funds.
	Fires, Blocks, Unfunded uint64
	// Tip, Outcome and Lateness sum up those parts of the fires, Use that of the blocks. Invariant: the first three
	// are at most Fires, and Use is at most Blocks.
	Tip, Outcome, Lateness, Use math.LegacyDec
	// Starved: a fire of the epoch ended a starvation.
	Starved bool
}

// NoStats are the stats of an epoch without fires. The zero value has nil decimals and can't be added to.
func NoStats() EpochStats {
	zero := math.LegacyZeroDec()
	return EpochStats{Tip: zero, Outcome: zero, Lateness: zero, Use: zero}
}

// History is what the state holds of an actor. It is written only in blocks in which a timer of the actor fires or
// lacks funds; the weight in a later epoch is computed from it when needed.
type History struct {
	// Weight in Epoch, the last one with anything to score.
	Weight math.LegacyDec
	Epoch  uint64
	// Stats of that epoch.
	Stats EpochStats
}

// Fire is what one fire adds to the stats of its actor.
type Fire struct {
	// Tip per cycle that it paid, P50 the median tip of the block before.
	Tip, P50 math.LegacyDec
	Success  bool
	// Late is how many blocks after its due height it fired.
	Late uint64
}

// Fire adds a fire to the stats.
func (w WeightRule) Fire(s *EpochStats, fire Fire) {
	s.Fires++
	s.Tip = s.Tip.Add(relativeTip(fire.Tip, fire.P50))
	s.Outcome = s.Outcome.Add(outcome(fire.Success))
	s.Lateness = s.Lateness.Add(ratio(fire.Late, w.LateBlocks))
}

// EndBlock adds the part of the lane's capacity that the actor's fires of one block used together, in cycles. It is
// called once for each actor and block with a fire.
func (w WeightRule) EndBlock(s *EpochStats, cycles, capacity uint64) {
	s.Blocks++
	s.Use = s.Use.Add(ratio(cycles, capacity))
}

// relativeTip is tip ÷ (tip + p50), truncated: ½ for the median tip, close to 1 for one far above it. A tip has
// diminishing returns, so that no single fire buys a weight.
func relativeTip(tip, p50 math.LegacyDec) math.LegacyDec {
	sum := tip.Add(p50)
	if sum.IsZero() {
		return half()
	}
	return tip.QuoTruncate(sum)
}

// outcome of a fire: 1 for success and ½ for failure, since a failed fire used the lane but paid for it.
func outcome(success bool) math.LegacyDec {
	if success {
		return math.LegacyOneDec()
	}
	return half()
}

// ratio is part ÷ whole, at most 1, truncated. Invariant: whole is positive.
func ratio(part, whole uint64) math.LegacyDec {
	if part >= whole {
		return math.LegacyOneDec()
	}
	return decimal(part).QuoTruncate(decimal(whole))
}

// mean is sum ÷ n, truncated; 0 if n is 0, so that an epoch without fires needs no case of its own.
func mean(sum math.LegacyDec, n uint64) math.LegacyDec {
	if n == 0 {
		return math.LegacyZeroDec()
	}
	return sum.QuoTruncate(decimal(n))
}

func half() math.LegacyDec { return math.LegacyNewDecWithPrec(5, 1) }

func decimal(n uint64) math.LegacyDec { return math.LegacyNewDecFromInt(math.NewIntFromUint64(n)) }

// Score of an epoch, from 0 to 1. It is 0 without a fire.
func (w WeightRule) Score(s EpochStats) math.LegacyDec {
	if s.Fires == 0 {
		return math.LegacyZeroDec()
	}
	// A failed try without funds counts in the outcome only: it used no lane, and was neither late nor tipped.
	spared := math.LegacyOneDec().Sub(mean(s.Use, s.Blocks))
	return w.Shares.Tip.MulTruncate(mean(s.Tip, s.Fires)).
		Add(w.Shares.Outcome.MulTruncate(mean(s.Outcome, s.Fires+s.Unfunded))).
		Add(w.Shares.Lateness.MulTruncate(mean(s.Lateness, s.Fires))).
		Add(w.Shares.Budget.MulTruncate(spared))
}

// Next is the weight in the epoch after one with something to score: a moving average of scores, in which the newest
// counts Decay. Both products truncate, in disfavour of the actor by less than 2 units of the 18th decimal. The floor
// of a starved actor is applied last, so that no bound lowers it.
func (w WeightRule) Next(weight math.LegacyDec, s EpochStats) math.LegacyDec {
	kept := math.LegacyOneDec().Sub(w.Decay).MulTruncate(weight)
	next := w.clip(kept.Add(w.Decay.MulTruncate(w.Score(s))))
	if s.Starved {
		next = math.LegacyMaxDec(next, w.Floor)
	}
	return next
}

// idle is the weight after so many epochs without anything to score. The loop has fewer than ForgottenAfter rounds.
func (w WeightRule) idle(weight math.LegacyDec, epochs uint64) math.LegacyDec {
	if epochs >= ForgottenAfter {
		return w.Neutral
	}
	kept, distance := math.LegacyOneDec().Sub(w.Inactivity), weight.Sub(w.Neutral)
	for range epochs {
		// Truncated towards Neutral, from above and from below.
		distance = distance.MulTruncate(kept)
	}
	return w.Neutral.Add(distance)
}

// WeightIn is the weight of an actor in an epoch. An epoch before that of its history counts as that one. Bounds
// that changed since then apply at once.
func (w WeightRule) WeightIn(h History, epoch uint64) math.LegacyDec {
	weight := w.clip(h.Weight)
	if epoch <= h.Epoch {
		return weight
	}
	return w.idle(w.Next(weight, h.Stats), epoch-h.Epoch-1)
}

// Starved reports whether an actor with a timer due at the height due has waited, at height now, for at least
// StarvationBlocks. The wait counts from the actor's last fire, if that was later than due; a last fire of 0 means
// that there was none.
func (w WeightRule) Starved(due, lastFire, now uint64) bool {
	return now-min(now, max(due, lastFire)) >= w.StarvationBlocks
}

// Units is a weight as candidates carry it, in WeightUnits, rounded down. Weights that differ by less than a unit are
// equal in the order and in the slices. A weight is at most 1, so that it fits.
func Units(weight math.LegacyDec) uint32 {
	return uint32(weight.MulInt64(WeightUnits).TruncateInt64())
}

// clip bounds a weight by Min and Max.
func (w WeightRule) clip(weight math.LegacyDec) math.LegacyDec {
	return math.LegacyMinDec(math.LegacyMaxDec(weight, w.Min), w.Max)
}
