package auction_test

import (
	gomath "math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/market/auction"
	"github.com/cosmos-timers/timers/x/timers/testutil/policytest"
)

const now = uint64(10_000)

func defaultAuction() auction.Rules {
	return auction.Rules{
		Lambda: policytest.Dec("0.05"), Reserve: math.ZeroInt(),
		Loop: auction.LambdaLoop{Min: policytest.Dec("0.01"), Max: policytest.Dec("0.5"), Step: policytest.Dec("0.01"), Window: 100},
	}
}

// bidder is a candidate that waits for so many blocks.
func bidder(bid int64, waits, seq, gas uint64) market.Candidate {
	return market.Candidate{Due: now - waits, Seq: seq, Size: gas, Locked: math.NewInt(bid)}
}

// block fills a lane greedily, with fires that use their whole gas limits, and returns what each candidate pays; nil
// for those that do not fire. It is what the keeper does, in a few lines.
func block(a auction.Rules, height uint64, candidates []market.Candidate, budget market.Budget) []*math.Int {
	order := a.Order(market.Prices{Height: height}, candidates)
	fired := make([]bool, len(candidates))
	for _, i := range order {
		if fired[i] = budget.Fits(candidates[i].Size); fired[i] {
			budget.Spend(candidates[i].Size, 0)
		}
	}
	payments := make([]*math.Int, len(candidates))
	for place, i := range order {
		if !fired[i] {
			continue
		}
		var rival *market.Candidate
		if behind := slices.IndexFunc(order[place:], func(j int) bool { return !fired[j] }); behind >= 0 {
			rival = &candidates[order[place+behind]]
		}
		paid := a.Payment(height, candidates[i], rival)
		payments[i] = &paid
	}
	return payments
}

// utility of a candidate whose fire is worth so much to it.
func utility(worth int64, payment *math.Int) int64 {
	if payment == nil {
		return 0
	}
	return worth - payment.Int64()
}

func drawAuction(t *rapid.T) auction.Rules {
	a := defaultAuction()
	a.Lambda = math.LegacyNewDecWithPrec(rapid.Int64Range(1, 5_000).Draw(t, "lambda"), 4)
	return a
}

func drawBidders(t *rapid.T, gas *rapid.Generator[uint64]) []market.Candidate {
	n := rapid.IntRange(1, 12).Draw(t, "bidders")
	candidates := make([]market.Candidate, n)
	for i := range candidates {
		bid := rapid.OneOf(rapid.Int64Range(0, 10), rapid.Int64Range(0, 1_000), rapid.Int64Range(0, 1e15)).Draw(t, "bid")
		waits := rapid.OneOf(rapid.Just(uint64(0)), rapid.Uint64Max(8), rapid.Uint64Max(3_000)).Draw(t, "waits")
		candidates[i] = bidder(bid, waits, uint64(i), gas.Draw(t, "gas"))
	}
	return candidates
}

// Rule: 1.7-auction
func TestAuctionAgreesWithItsVectors(t *testing.T) {
	type candidate struct {
		Bid      math.Int
		Due, Seq uint64
		Size     uint64
	}
	for _, v := range policytest.ReadVectors[struct {
		Name       string
		Lambda     math.LegacyDec
		Height     uint64
		Reserve    math.Int
		Candidates []candidate
		Order      []int
		Payments   []math.Int
	}](t, "auction.json") {
		a := auction.Rules{Lambda: v.Lambda, Reserve: v.Reserve}
		candidates := make([]market.Candidate, len(v.Candidates))
		for i, c := range v.Candidates {
			candidates[i] = market.Candidate{Due: c.Due, Seq: c.Seq, Size: c.Size, Locked: c.Bid}
		}
		require.Equal(t, v.Order, a.Order(market.Prices{Height: v.Height}, candidates), v.Name)
		for place, i := range v.Order {
			var rival *market.Candidate
			if place+1 < len(v.Order) {
				rival = &candidates[v.Order[place+1]]
			}
			require.Equal(t, v.Payments[place].String(), a.Payment(v.Height, candidates[i], rival).String(), "%s: candidate %d", v.Name, i)
		}
	}
}

// TestAuctionChargesAsFIFODoes beside the bid.
//
// Rule: 1.7-auction, 1.7-basefee-of-others
func TestAuctionChargesAsFIFODoes(t *testing.T) {
	prices := market.Prices{Cycle: policytest.Dec("0.001"), Cell: policytest.Dec("0.03"), Lane: policytest.Dec("7"), P50: policytest.Dec("1")}
	a := defaultAuction()
	price, willing := a.Price(prices, bidder(9, 0, 1, 50_000))
	want, _ := market.FIFO{}.Price(prices, market.Candidate{})
	require.True(t, willing)
	require.Equal(t, want, price)
	require.Equal(t, prices.Cycle, a.LaneBasefee(prices.Cycle, market.Last{Basefee: policytest.Dec("9"), Use: market.Use{Size: 1 << 40}}))
}

// TestAuctionOrderIsTotal: the order names every candidate once and does not depend on how they are handed in; one who
// bids more, waits longer or wants less gas than before is not placed behind who it was before.
//
// Rule: 1.7-auction
func TestAuctionOrderIsTotal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, candidates := drawAuction(t), drawBidders(t, rapid.Uint64Range(1, 1<<50))
		prices := market.Prices{Height: now}
		order := a.Order(prices, candidates)
		require.Len(t, slices.Compact(slices.Sorted(slices.Values(order))), len(candidates))
		shuffled := rapid.Permutation(candidates).Draw(t, "shuffled")
		for place, i := range a.Order(prices, shuffled) {
			require.Equal(t, candidates[order[place]].Seq, shuffled[i].Seq)
		}
		better := slices.Clone(candidates)
		who := rapid.IntRange(0, len(candidates)-1).Draw(t, "who")
		c := &better[who]
		c.Locked = c.Locked.AddRaw(rapid.Int64Range(0, 50).Draw(t, "more"))
		c.Due -= rapid.Uint64Max(50).Draw(t, "longer")
		c.Size -= rapid.Uint64Max(c.Size-1).Draw(t, "less")
		require.LessOrEqual(t, slices.Index(a.Order(prices, better), who), slices.Index(order, who))
	})
}

// TestNoWinnerPaysMoreThanItsBid under either rule, and under vcg a higher reserve price never makes anyone pay less.
func TestNoWinnerPaysMoreThanItsBid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := drawAuction(t)
		a.FirstPrice = rapid.Bool().Draw(t, "first price")
		a.Reserve = math.NewInt(rapid.Int64Range(0, 100).Draw(t, "reserve"))
		candidates := drawBidders(t, rapid.Uint64Range(1, 100))
		budget := market.Budget{Capacity: market.Capacity{Cycles: rapid.Uint64Range(1, 300).Draw(t, "lane"), Cells: 1}}
		pricier := a
		pricier.Reserve = a.Reserve.AddRaw(rapid.Int64Range(0, 100).Draw(t, "more"))
		more := block(pricier, now, candidates, budget)
		for i, payment := range block(a, now, candidates, budget) {
			if payment == nil {
				continue
			}
			require.True(t, payment.LTE(candidates[i].Locked))
			require.False(t, payment.IsNegative())
			require.True(t, payment.GTE(math.MinInt(a.Reserve, candidates[i].Locked)))
			require.True(t, payment.LTE(*more[i]))
			if a.FirstPrice {
				require.Equal(t, candidates[i].Locked.String(), payment.String())
			}
		}
	})
}

// TestVCGIsTruthfulForEqualGasLimits: where all want the same share of the lane and there is no reserve price, no one
// gains by bidding another sum than what its fire is worth, whatever the others bid and however long they wait. What a
// bid comes to changes only where it passes another's, so that all bids near those, and some others, stand for every
// lie there is.
func TestVCGIsTruthfulForEqualGasLimits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := defaultAuction()
		gas := rapid.Uint64Range(1, 1<<50).Draw(t, "everybody's gas")
		var candidates []market.Candidate
		if rapid.Bool().Draw(t, "all near each other") {
			// A wait of 80 blocks is worth 54, at this λ.
			for i := range rapid.Uint64Range(2, 6).Draw(t, "bidders") {
				waits := rapid.Uint64Max(80).Draw(t, "waits")
				candidates = append(candidates, bidder(rapid.Int64Range(0, 60).Draw(t, "bid"), waits, i, gas))
			}
		} else {
			a = drawAuction(t)
			candidates = drawBidders(t, rapid.Just(gas))
		}
		budget := market.Budget{
			Capacity: market.Capacity{Cycles: gas * rapid.Uint64Range(1, 4).Draw(t, "places"), Cells: 1}, MaxFires: rapid.Uint32Max(3).Draw(t, "fires"),
		}
		honest := block(a, now, candidates, budget)
		for who, c := range candidates {
			worth := c.Locked.Int64()
			require.GreaterOrEqual(t, utility(worth, honest[who]), int64(0))
			lies := []int64{0, worth / 2, worth - 1, worth + 1, 2 * worth, 1e15}
			for _, rival := range candidates {
				if least, possible := a.LeastBid(now, c, rival); possible && least.IsInt64() {
					lies = append(lies, least.Int64()-1, least.Int64(), least.Int64()+1)
				}
			}
			for _, lie := range lies {
				lied := slices.Clone(candidates)
				lied[who].Locked = math.NewInt(max(0, lie))
				got := utility(worth, block(a, now, lied, budget)[who])
				require.LessOrEqual(t, got, utility(worth, honest[who]), "worth %d, bids %d", worth, lie)
			}
		}
	})
}

// TestVCGWithUnequalGasLimitsIsNotTruthful: with unequal gas limits a small fire pays for keeping out one that would
// not have fitted without it either. It gains by bidding little: the lane leaves room for it in any case.
func TestVCGWithUnequalGasLimitsIsNotTruthful(t *testing.T) {
	a, budget := defaultAuction(), market.Budget{Capacity: market.Capacity{Cycles: 100, Cells: 1}}
	honest := []market.Candidate{bidder(100, 0, 1, 10), bidder(450, 0, 2, 90), bidder(399, 0, 3, 100)}
	require.Equal(t, int64(100-39), utility(100, block(a, now, honest, budget)[0]), "a tenth of 399 and its bias, less its own")
	lied := slices.Clone(honest)
	lied[0].Locked = math.NewInt(1)
	require.Equal(t, int64(100), utility(100, block(a, now, lied, budget)[0]))
}

// TestReservePriceIsNotTruthful where no one competes: a timer below the reserve price fires all the same.
func TestReservePriceIsNotTruthful(t *testing.T) {
	a, budget := defaultAuction(), market.Budget{Capacity: market.Capacity{Cycles: 100, Cells: 1}}
	a.Reserve = math.NewInt(5)
	require.Equal(t, int64(5), utility(10, block(a, now, []market.Candidate{bidder(10, 0, 1, 10)}, budget)[0]))
	require.Equal(t, int64(10), utility(10, block(a, now, []market.Candidate{bidder(0, 0, 1, 10)}, budget)[0]))
}

// TestCIP5PaymentRewardsOverbidding: "the first excluded timer's bid less the winner's own bias" leaves out the bias
// by which the first excluded one competed. A timer that should lose to waiting then buys its place for less than it
// takes.
func TestCIP5PaymentRewardsOverbidding(t *testing.T) {
	a, budget := defaultAuction(), market.Budget{Capacity: market.Capacity{Cycles: 10, Cells: 1}}
	literal := func(winner, rival market.Candidate) int64 {
		bias, _ := a.Bias(now - winner.Due)
		return max(0, rival.Locked.Sub(bias.TruncateInt()).Int64())
	}
	// e^(0.05 × 60) = 20.08…, e^(0.05 × 40) = 7.38…
	patient, worth11 := bidder(10, 60, 1, 10), bidder(11, 40, 2, 10)
	require.Nil(t, block(a, now, []market.Candidate{patient, worth11}, budget)[1])
	overbid := bidder(30, 40, 2, 10)
	payments := block(a, now, []market.Candidate{patient, overbid}, budget)
	require.Equal(t, int64(11-3), 11-literal(overbid, patient), "as it is written it gains 8")
	require.Equal(t, int64(11-23), utility(11, payments[1]), "it pays what its place takes: 30.08… less 7.38…")
	// For an equal gas limit and a rival that has not waited, the two are the same but for the unit of bias that all
	// have.
	fresh := bidder(30, 0, 3, 10)
	require.Equal(t, literal(bidder(60, 40, 4, 10), fresh), a.Payment(now, bidder(60, 40, 4, 10), &fresh).Int64()-1)
}

// TestWaitIsBounded: against newcomers that bid the same every block and fill the lane, who bids nothing
// fires after ln((bid + 1) × ratio of gas limits) ÷ λ blocks, rounded up, whatever the loop makes of λ within its
// bounds.
func TestWaitIsBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := defaultAuction()
		a.Loop.Min = math.LegacyNewDecWithPrec(rapid.Int64Range(50, 3_000).Draw(t, "min"), 3)
		a.Loop.Max = a.Loop.Min.Add(math.LegacyNewDecWithPrec(rapid.Int64Range(0, 1_000).Draw(t, "range"), 3))
		a.Loop.Step = policytest.Dec("0.1")
		a.Lambda = a.Loop.Min
		bid := math.NewIntFromUint64(rapid.Uint64().Draw(t, "bid")).MulRaw(rapid.Int64Range(1, 1<<31).Draw(t, "times"))
		poor := market.Candidate{Due: now, Seq: 1, Size: rapid.Uint64Range(40_000, 550_000).Draw(t, "poor gas"), Locked: math.ZeroInt()}
		rich := rapid.Uint64Range(40_000, 550_000).Draw(t, "rich gas")
		worth := gomath.Log(math.LegacyNewDecFromInt(bid.AddRaw(1)).MustFloat64()) + gomath.Log(float64(poor.Size)/float64(rich))
		bound := uint64(max(0, gomath.Ceil(worth/a.Loop.Min.MustFloat64()+1e-6)))
		state := auction.LambdaState{Lambda: a.Lambda, ValueDecay: math.LegacyZeroDec(), Deferral: math.LegacyZeroDec()}
		for waited := uint64(0); ; waited++ {
			require.LessOrEqual(t, waited, bound)
			height := now + waited
			whale := market.Candidate{Due: height, Seq: 2 + waited, Size: rich, Locked: bid}
			if order := a.Order(market.Prices{Height: height}, []market.Candidate{poor, whale}); order[0] == 0 {
				return
			}
			var seen auction.Observation
			seen.Add(height, whale, height+rapid.Uint64Max(1_000).Draw(t, "ttl"))
			state = a.Loop.Next(state, seen)
			a.Lambda = state.Lambda
		}
	})
}

// TestAgedTimersFireOldestFirst: where the bias no longer grows, the oldest fires first, at any gas limit, and no bid
// passes it.
func TestAgedTimersFireOldestFirst(t *testing.T) {
	a := defaultAuction()
	largest := market.Candidate{Due: now, Seq: 4, Size: 40_000, Locked: math.NewIntFromUint64(gomath.MaxUint64).MulRaw(1 << 32)}
	candidates := []market.Candidate{largest, bidder(9, 2_560, 3, 40_000), bidder(0, 2_561, 2, 550_000), bidder(0, 2_559, 1, 550_000)}
	require.Equal(t, []int{2, 1, 3, 0}, a.Order(market.Prices{Height: now}, candidates))
	for _, one := range candidates {
		for _, other := range candidates {
			order := a.Standing(now, one).Compare(a.Standing(now, other))
			require.Equal(t, -order, a.Standing(now, other).Compare(a.Standing(now, one)), "%d and %d", one.Seq, other.Seq)
			require.Equal(t, one.Seq == other.Seq, order == 0, "no two are equal")
		}
	}
	_, possible := a.LeastBid(now, largest, candidates[2])
	require.False(t, possible)
	require.True(t, a.Payment(now, candidates[1], &candidates[3]).IsZero(), "it would have fired for nothing")
}
