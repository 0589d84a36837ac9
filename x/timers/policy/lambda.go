package policy

import "cosmossdk.io/math"

// LambdaLoop adjusts λ after each block, so that the value of the average bidder's fire decays at least as fast as its bias
// grows: otherwise it would pay to underbid and wait (SPEC §6, CIP-5 §9.3).
//
// Both sides are observed. A timer's bid is what its fire is worth at its due height, and expires_at is where its owner
// says that it is worth nothing: it loses bid ÷ (expires_at − due + 1) a block. Its bias, after n blocks of waiting, grows
// by e^(λ(n+1)) − e^(λn) in the next. A block's observation is the mean over its fires that had bid; averages over blocks
// are kept with weight 1 ÷ Window for the newest, and blocks without such fires are none.
//
// The law: λ is lowered by Step of it if the growth exceeds the decay; raised by Step of it if the growth would not exceed
// the decay even then; and otherwise stays. So a stationary workload brings it to within a step of the largest λ that the
// constraint admits, and there it rests. It never leaves Min to Max: where even Min grows too fast, the wait is bounded
// first.
type LambdaLoop struct {
	// Min and Max bound λ: LAMBDA_MIN and LAMBDA_MAX, above 0.
	Min, Max math.LegacyDec
	// Step is LAMBDA_STEP, below 1.
	Step math.LegacyDec
	// Window is AUCTION_WINDOW_BLOCKS, at least 1.
	Window uint64
}

// LambdaState is what the loop carries from one block to the next.
type LambdaState struct {
	Lambda math.LegacyDec
	// ValueDecay is what the average bidder's fire loses of its value in a block, Deferral for how many it had waited.
	ValueDecay, Deferral math.LegacyDec
	// Blocks is how many the averages are over, up to the window.
	Blocks uint64
}

// Observation sums up the fires of a block that had bid.
type Observation struct {
	bidders         uint64
	decay, deferral math.LegacyDec
}

// Add observes a fire at a height. Expires is the last height at which it could have been.
func (o *Observation) Add(height uint64, c Candidate, expires uint64) {
	bid := c.bid()
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

// Next is the state after a block.
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
	// A decay beyond what carries the largest λ says no more than that: one huge bid must not be felt for ever.
	most, _ := growth(l.Max, state.Deferral)
	state.ValueDecay = blend(state.ValueDecay, math.LegacyMinDec(seen.decay.QuoInt(bidders), most))

	raised := l.clamp(state.Lambda.MulTruncate(math.LegacyOneDec().Add(l.Step)))
	switch {
	case !l.holds(state.Lambda, state):
		state.Lambda = l.clamp(state.Lambda.MulTruncate(math.LegacyOneDec().Sub(l.Step)))
	case l.holds(raised, state):
		state.Lambda = raised
	}
	return state
}

// holds tells whether value decays at least as fast as bias grows.
func (l LambdaLoop) holds(lambda math.LegacyDec, state LambdaState) bool {
	grows, bounded := growth(lambda, state.Deferral)
	return bounded && grows.LTE(state.ValueDecay)
}

// growth of the bias in a block, after as many; false, and more than any, if it is beyond what Exp reckons with.
func growth(lambda, deferral math.LegacyDec) (math.LegacyDec, bool) {
	before, after := lambda.MulTruncate(deferral), lambda.MulTruncate(deferral.Add(math.LegacyOneDec()))
	if after.GTE(math.LegacyNewDec(MaxExponent)) {
		return Exp(after), false
	}
	return Exp(after).Sub(Exp(before)), true
}

func (l LambdaLoop) clamp(lambda math.LegacyDec) math.LegacyDec {
	return math.LegacyMinDec(math.LegacyMaxDec(lambda, l.Min), l.Max)
}
