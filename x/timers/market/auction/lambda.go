package auction

import (
	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/market"
)

// LambdaLoop adjusts λ after each block, so that the value of the average bidder's fire decays at least as fast as
// its bias grows. Otherwise underbidding and waiting would pay (x/timers/docs/use/auction.md, "How λ adjusts itself").
//
// # Observation
//
// Both sides are observed. A timer's bid is taken as the value of its fire at its due height. Its expires_at is
// taken as the height at which that value has fallen to 0. So it loses bid ÷ (expires_at − due + 1) a block. After n
// blocks of waiting its bias grows by e^(λ(n+1)) − e^(λn) in the next block.
//
// The observation of a block is the mean over its fires that had bid. Averages over blocks give the newest a weight
// of 1 ÷ Window; blocks without such fires are not counted.
//
// # Rule
//
// λ is lowered by Step of itself if the growth exceeds the decay. It is raised by Step of itself if the growth would
// not exceed the decay even then. Otherwise it stays. So under a stationary workload λ converges to within a step of
// the largest value that satisfies the constraint, and stays there.
//
// Invariant: λ never leaves Min to Max. Where even Min grows too fast, bounding the wait takes precedence.
type LambdaLoop struct {
	// Min and Max bound λ: LAMBDA_MIN and LAMBDA_MAX. Invariant: 0 < Min ≤ Max.
	Min, Max math.LegacyDec
	// Step is the relative change of λ in a block: LAMBDA_STEP, below 1.
	Step math.LegacyDec
	// Window is the number of blocks that the averages are over: AUCTION_WINDOW_BLOCKS, at least 1.
	Window uint64
}

// LambdaState is what the loop carries from one block to the next.
type LambdaState struct {
	Lambda math.LegacyDec
	// ValueDecay is what the average bidder's fire loses of its value in a block, in fee denom; Deferral is how
	// many blocks it had waited.
	ValueDecay, Deferral math.LegacyDec
	// Blocks is how many the averages are over. Invariant: at most the window.
	Blocks uint64
}

// Observation sums up the fires of a block that had bid.
type Observation struct {
	bidders         uint64
	decay, deferral math.LegacyDec
}

// Add observes a fire at a height. expires is the last height at which it could have fired. A fire without a bid
// contains no information about the value that bidders lose, and is not counted.
func (o *Observation) Add(height uint64, c market.Candidate, expires uint64) {
	bid := c.LockedBid()
	if !bid.IsPositive() || expires < c.Due {
		return
	}
	if o.bidders == 0 {
		o.decay, o.deferral = math.LegacyZeroDec(), math.LegacyZeroDec()
	}
	o.bidders++
	o.decay = o.decay.Add(math.LegacyNewDecFromInt(bid).QuoInt(math.NewIntFromUint64(expires - c.Due).AddRaw(1)))
	o.deferral = o.deferral.Add(math.LegacyNewDecFromInt(math.NewIntFromUint64(deferred(height, c))))
}

// Next is the state after a block. Products and quotients truncate; what that loses is far below a step.
func (l LambdaLoop) Next(state LambdaState, seen Observation) LambdaState {
	state.Lambda = l.clamp(state.Lambda)
	if seen.bidders == 0 {
		return state
	}
	state.Blocks = min(state.Blocks, l.Window-1) + 1
	bidders := math.NewIntFromUint64(seen.bidders)
	blend := func(average, newest math.LegacyDec) math.LegacyDec {
		return average.Add(newest.Sub(average).QuoInt(math.NewIntFromUint64(state.Blocks)))
	}
	state.Deferral = blend(state.Deferral, seen.deferral.QuoInt(bidders))
	// A decay is cut off at the growth under the largest λ. A larger one would have no further effect on λ now, but
	// would dominate the average for long after one huge bid.
	limit, _ := growth(l.Max, state.Deferral)
	state.ValueDecay = blend(state.ValueDecay, math.LegacyMinDec(seen.decay.QuoInt(bidders), limit))

	raised := l.clamp(state.Lambda.MulTruncate(math.LegacyOneDec().Add(l.Step)))
	switch {
	case !l.holds(state.Lambda, state):
		state.Lambda = l.clamp(state.Lambda.MulTruncate(math.LegacyOneDec().Sub(l.Step)))
	case l.holds(raised, state):
		state.Lambda = raised
	}
	return state
}

// holds reports whether value decays at least as fast as bias grows. It is false for a growth beyond the range of Exp.
func (l LambdaLoop) holds(lambda math.LegacyDec, state LambdaState) bool {
	grows, bounded := growth(lambda, state.Deferral)
	return bounded && grows.LTE(state.ValueDecay)
}

// growth of the bias in a block, after a wait of so many blocks. It is false if the exponent is beyond MaxExponent;
// the growth is larger than any decay then.
func growth(lambda, deferral math.LegacyDec) (math.LegacyDec, bool) {
	before, after := lambda.MulTruncate(deferral), lambda.MulTruncate(deferral.Add(math.LegacyOneDec()))
	if after.GTE(math.LegacyNewDec(MaxExponent)) {
		return Exp(after), false
	}
	return Exp(after).Sub(Exp(before)), true
}

// clamp bounds λ by Min and Max. The state is clamped as well, since governance may have moved the bounds meanwhile.
func (l LambdaLoop) clamp(lambda math.LegacyDec) math.LegacyDec {
	return math.LegacyMinDec(math.LegacyMaxDec(lambda, l.Min), l.Max)
}
