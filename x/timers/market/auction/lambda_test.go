package auction_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/market/auction"
	"github.com/cosmos-timers/timers/x/timers/testutil/policytest"
)

func TestLambdaAgreesWithItsVectors(t *testing.T) {
	type state struct {
		Lambda     math.LegacyDec
		ValueDecay math.LegacyDec `json:"value_decay"`
		Deferral   math.LegacyDec
		Blocks     uint64
	}
	for _, v := range policytest.ReadVectors[struct {
		state
		Name           string
		Min, Max, Step math.LegacyDec
		Window, Height uint64
		Fires          []struct {
			Bid          math.Int
			Due, Expires uint64
		}
		Next state
	}](t, "lambda.json") {
		var seen auction.Observation
		for _, f := range v.Fires {
			seen.Add(v.Height, market.Candidate{Due: f.Due, Locked: f.Bid}, f.Expires)
		}
		loop := auction.LambdaLoop{Min: v.Min, Max: v.Max, Step: v.Step, Window: v.Window}
		next := loop.Next(auction.LambdaState{Lambda: v.Lambda, ValueDecay: v.ValueDecay, Deferral: v.Deferral, Blocks: v.Blocks}, seen)
		require.Equal(t, v.Next.Lambda.String(), next.Lambda.String(), v.Name)
		require.Equal(t, v.Next.ValueDecay.String(), next.ValueDecay.String(), v.Name)
		require.Equal(t, v.Next.Deferral.String(), next.Deferral.String(), v.Name)
		require.Equal(t, v.Next.Blocks, next.Blocks, v.Name)
	}
}

func drawLoop(t *rapid.T) auction.LambdaLoop {
	loop := auction.LambdaLoop{
		Min:    math.LegacyNewDecWithPrec(rapid.Int64Range(1, 1_000).Draw(t, "min"), 4),
		Step:   math.LegacyNewDecWithPrec(rapid.Int64Range(0, 500).Draw(t, "step"), 3),
		Window: rapid.Uint64Range(1, 200).Draw(t, "window"),
	}
	loop.Max = loop.Min.Add(math.LegacyNewDecWithPrec(rapid.Int64Range(0, 99_000).Draw(t, "range"), 4))
	return loop
}

func newState(lambda math.LegacyDec) auction.LambdaState {
	return auction.LambdaState{Lambda: lambda, ValueDecay: math.LegacyZeroDec(), Deferral: math.LegacyZeroDec()}
}

// TestLambdaStaysWithinItsBounds, and moves by no more than a step, whatever fires.
func TestLambdaStaysWithinItsBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		loop := drawLoop(t)
		state := newState(loop.Min)
		for range rapid.IntRange(1, 60).Draw(t, "blocks") {
			var seen auction.Observation
			for range rapid.IntRange(0, 3).Draw(t, "fires") {
				bid := math.NewIntFromUint64(rapid.Uint64().Draw(t, "bid")).MulRaw(rapid.Int64Range(0, 1<<32-1).Draw(t, "times"))
				due := rapid.Uint64Max(now).Draw(t, "due")
				seen.Add(now, market.Candidate{Due: due, Locked: bid}, now+rapid.Uint64Max(1<<40).Draw(t, "left"))
			}
			before := state.Lambda
			state = loop.Next(state, seen)
			require.True(t, state.Lambda.GTE(loop.Min) && state.Lambda.LTE(loop.Max), "λ is %s", state.Lambda)
			change, most := state.Lambda.Sub(before).Abs(), before.Mul(loop.Step).Add(math.LegacySmallestDec())
			require.True(t, change.LTE(most), "λ went from %s to %s", before, state.Lambda)
			require.False(t, state.ValueDecay.IsNegative() || state.Deferral.IsNegative())
			require.LessOrEqual(t, state.Blocks, loop.Window)
		}
	})
}

// TestLambdaConverges: where every block is the same, λ ends as the largest that keeps the constraint, to within a
// step, or at the bound that is nearest to it, and moves no more.
func TestLambdaConverges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		loop := auction.LambdaLoop{Min: policytest.Dec("0.01"), Max: policytest.Dec("0.5"), Step: policytest.Dec("0.05"), Window: 20}
		bid := math.NewInt(rapid.Int64Range(1, 100_000).Draw(t, "bid"))
		waits, left := rapid.Uint64Max(40).Draw(t, "waits"), rapid.Uint64Max(2_000).Draw(t, "left")
		same := func() (seen auction.Observation) {
			seen.Add(now, market.Candidate{Due: now - waits, Locked: bid}, now+left)
			return seen
		}
		state := newState(math.LegacyNewDecWithPrec(rapid.Int64Range(10, 500).Draw(t, "start"), 3))
		for range 200 {
			state = loop.Next(state, same())
		}
		require.Equal(t, state.Lambda.String(), loop.Next(state, same()).Lambda.String(), "it moves on")
		n := math.LegacyNewDec(int64(waits))
		growth := func(lambda math.LegacyDec) math.LegacyDec {
			return auction.Exp(lambda.Mul(n.Add(math.LegacyOneDec()))).Sub(auction.Exp(lambda.Mul(n)))
		}
		decay := math.LegacyNewDecFromInt(bid).QuoInt64(int64(waits + left + 1))
		if !state.Lambda.Equal(loop.Min) {
			require.True(t, growth(state.Lambda).LTE(decay), "value decays by %s, bias grows by %s", decay, growth(state.Lambda))
		}
		if !state.Lambda.Equal(loop.Max) {
			raised := state.Lambda.Mul(policytest.Dec("1.05"))
			require.True(t, growth(math.LegacyMinDec(raised, loop.Max)).GT(decay), "λ %s could be raised", state.Lambda)
		}
	})
}

// TestOutlierBidHasBoundedEffect: what one huge bid adds to the average is bounded by what the largest λ needs.
func TestOutlierBidHasBoundedEffect(t *testing.T) {
	loop := auction.LambdaLoop{Min: policytest.Dec("0.01"), Max: policytest.Dec("0.5"), Step: policytest.Dec("0.01"), Window: 100}
	state := newState(policytest.Dec("0.05"))
	block := func(bid math.Int) {
		var seen auction.Observation
		seen.Add(now, market.Candidate{Due: now, Locked: bid}, now+999)
		state = loop.Next(state, seen)
	}
	for range 300 {
		block(math.NewInt(20)) // 0.02 a block: λ just below 0.02.
	}
	rest := state.Lambda
	block(math.NewIntFromUint64(1 << 63).MulRaw(1 << 32))
	require.True(t, state.ValueDecay.LT(policytest.Dec("0.03")), "%s", state.ValueDecay)
	for range 500 {
		block(math.NewInt(20))
	}
	require.True(t, state.Lambda.Sub(rest).Abs().LTE(policytest.Dec("0.0003")), "%s, before it was %s", state.Lambda, rest)
	before := state
	state = loop.Next(state, auction.Observation{})
	require.Equal(t, before, state, "a block in which no one bid says nothing")
}

// TestLambdaFollowsItsBounds: where governance has moved them past λ, it is at the nearer one after the next block, also
// after one in which no one bid. A block that lowers or raises it starts from there.
func TestLambdaFollowsItsBounds(t *testing.T) {
	loop := auction.LambdaLoop{Min: policytest.Dec("0.1"), Max: policytest.Dec("0.2"), Step: policytest.Dec("0.1"), Window: 100}
	next := func(lambda string, bid int64) string {
		var seen auction.Observation
		if bid > 0 {
			seen.Add(now, market.Candidate{Due: now, Locked: math.NewInt(bid)}, now)
		}
		return loop.Next(newState(policytest.Dec(lambda)), seen).Lambda.String()
	}
	require.Equal(t, policytest.Dec("0.1").String(), next("0.05", 0), "no one bid")
	require.Equal(t, policytest.Dec("0.2").String(), next("0.9", 0), "no one bid")
	require.Equal(t, policytest.Dec("0.15").String(), next("0.15", 0), "within the bounds it stays")
	require.Equal(t, policytest.Dec("0.11").String(), next("0.05", 1_000), "value is lost faster than bias grows")
}
