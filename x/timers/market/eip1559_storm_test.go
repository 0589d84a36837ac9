package market_test

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	sdkmath "cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/testutil/mergetest"
	"github.com/cosmos-timers/timers/x/timers/testutil/policytest"
)

// storm is a workload: what the i-th timer asks for and weighs while the lane's fee is about startFee. Floats draw it;
// nothing of the code does.
type storm struct {
	name string
	draw func(r *rand.Rand, i int) (market.Ask, uint32)
	// most is how many entries beyond the heads may be read for each timer that is taken; 0 stands for readsPerTaken.
	most float64
}

const (
	startFee = 0.01
	usualTip = 0.001
)

// price is a drawn float as a price, down to the 18th decimal.
func price(f float64) sdkmath.LegacyDec {
	return policytest.Dec(fmt.Sprintf("%.18f", max(0, f)))
}

func asks(fee, tip float64) market.Ask { return market.StatedAsk(price(fee), price(tip)) }

func anyWeight(r *rand.Rand) uint32 { return 16 + r.Uint32N(17) }

// lognormal draws a tip about the usual one, and a slack about the lane's fee.
func lognormal(r *rand.Rand) market.Ask {
	tip := usualTip * math.Exp(r.NormFloat64())
	return asks(tip+startFee*math.Exp(0.5+0.7*r.NormFloat64()), tip)
}

func storms() []storm {
	return []storm{
		{"lognormal prices, weights at random", func(r *rand.Rand, _ int) (market.Ask, uint32) { return lognormal(r), anyWeight(r) }, 0},
		{"lognormal prices, one weight", func(r *rand.Rand, _ int) (market.Ask, uint32) { return lognormal(r), 32 }, 0},
		{"all by default, weights at random", func(r *rand.Rand, _ int) (market.Ask, uint32) { return market.Ask{}, anyWeight(r) }, 0},
		{"all by default, one weight", func(*rand.Rand, int) (market.Ask, uint32) { return market.Ask{}, 32 }, 0},
		{"all stated alike, weights at random", func(r *rand.Rand, _ int) (market.Ask, uint32) { return asks(2*startFee, usualTip), anyWeight(r) }, 0},
		{"all stated alike, slack at the fee", func(*rand.Rand, int) (market.Ask, uint32) { return asks(1.05*startFee+usualTip, usualTip), 32 }, 0},
		{"max fees about the lane's", func(r *rand.Rand, _ int) (market.Ask, uint32) {
			fee := startFee * (0.99 + 0.02*r.Float64())
			return asks(fee, fee*r.Float64()), anyWeight(r)
		}, 0},
		{"slacks about the lane's fee", func(r *rand.Rand, _ int) (market.Ask, uint32) {
			tip := usualTip * r.Float64()
			return asks(startFee*(0.95+0.1*r.Float64())+tip, tip), anyWeight(r)
		}, 2.5},
		{"99 of 100 a hair below the fee, no tips", func(r *rand.Rand, i int) (market.Ask, uint32) {
			if i%100 == 0 {
				return lognormal(r), anyWeight(r)
			}
			return asks(startFee*(1-1e-6*r.Float64()), 0), anyWeight(r)
		}, 0},
		{"99 of 100 a hair below the fee, all of it a tip", func(r *rand.Rand, i int) (market.Ask, uint32) {
			if i%100 == 0 {
				return lognormal(r), anyWeight(r)
			}
			fee := startFee * (1 - 1e-6*r.Float64())
			return asks(fee, fee), anyWeight(r)
		}, 0},
		{"a thousand of one owner above all", func(r *rand.Rand, i int) (market.Ask, uint32) {
			if i%100 == 0 {
				return asks(100*startFee, 50*usualTip), 16
			}
			return lognormal(r), 17 + r.Uint32N(16)
		}, 0},
		{"tiers, stated and default mixed", func(r *rand.Rand, _ int) (market.Ask, uint32) {
			if kind := market.Kind(r.IntN(8)); kind < market.Stated {
				return market.Ask{Kind: kind}, anyWeight(r)
			}
			return lognormal(r), anyWeight(r)
		}, 0},
		{"no tips", func(r *rand.Rand, _ int) (market.Ask, uint32) { return asks(startFee*(1+r.Float64()), 0), anyWeight(r) }, 0},
		{"no prices at all", func(r *rand.Rand, _ int) (market.Ask, uint32) { return asks(0, 0), anyWeight(r) }, 0},
		{"prices of all sizes", func(r *rand.Rand, _ int) (market.Ask, uint32) {
			return asks(math.Exp(80*r.Float64()-40), math.Exp(80*r.Float64()-40)), anyWeight(r)
		}, 2.5},
	}
}

// hidden is the worst storm for two lists: all slacks lie in one bucket about the fee, and before the few that tip there
// are half of all in one list, with higher tips but priced out, and half of all in the other, with a higher fee but no
// tip.
func hidden() storm {
	return storm{"hidden", func(r *rand.Rand, i int) (market.Ask, uint32) {
		switch hair := 1e-6 * r.Float64(); {
		case i%100 == 0:
			return asks(startFee*(1.02+hair), startFee*0.02), 32
		case i%2 == 0:
			return asks(startFee*(1-hair), startFee*(0.03+0.07*r.Float64())), 32
		default:
			return asks(startFee*(1.03+hair), 0), 32
		}
	}, 0}
}

// backlog is what waits: n timers of a storm, in an index.
type eip1559Backlog struct {
	timers []market.Candidate
	store  *mergetest.Store
}

func gather(s storm, r *rand.Rand, n int) *eip1559Backlog {
	b := &eip1559Backlog{timers: make([]market.Candidate, n)}
	for i := range b.timers {
		ask, weight := s.draw(r, i)
		b.timers[i] = market.Candidate{Ask: ask, Weight: weight, Due: uint64(r.IntN(50)), Seq: uint64(i)}
	}
	b.store = newStore(b.timers...)
	return b
}

// drop takes timers out of the backlog.
func (b *eip1559Backlog) drop(seqs []uint64) {
	gone := map[uint64]bool{}
	for _, seq := range seqs {
		gone[seq] = true
	}
	b.timers = slices.DeleteFunc(b.timers, func(c market.Candidate) bool {
		if gone[c.Seq] {
			b.store.Remove(entriesOf(c)...)
		}
		return gone[c.Seq]
	})
}

// laneFee walks at random by an eighth at most.
func laneFee(r *rand.Rand, last float64) float64 { return last * (1 + 0.25*(r.Float64()-0.5)) }

// stormTimers is the size of a storm; `make test-long` takes 100,000.
var stormTimers = flag.Int("storm", 25_000, "timers of a storm")

const (
	stormTake   = 500
	stormBlocks = 3
	// readsPerTaken is how many entries a storm may cost for each timer that is taken.
	readsPerTaken = 2
)

// TestReadsInAStorm: whatever the storm asks for, a block takes its timers in exact order, and reads hardly more of
// them.
func TestReadsInAStorm(t *testing.T) {
	var table strings.Builder
	fmt.Fprintf(&table, "%-50s %8s %8s %8s %8s %8s\n", fmt.Sprintf("storm of %d, %d taken a block", *stormTimers, stormTake), "taken", "heads", "beyond", "beyond/t", "most/t")
	for i, s := range storms() {
		t.Run(s.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, uint64(i)))
			b, fee, e := gather(s, r, *stormTimers), startFee, defaultMarket()
			taken, heads, beyond, most := 0, 0, 0, 0.0
			for range stormBlocks {
				prices := pricesAt(price(fee), price(usualTip))
				want := inOrder(e, prices, b.timers)
				m := openIndex(t, b.store, e, prices, eip1559Enough)
				got := takeSome(t, m, stormTake)
				require.Equal(t, want[:min(stormTake, len(want))], got)
				taken, heads, beyond = taken+len(got), heads+m.Heads, beyond+m.Read
				most = max(most, float64(m.Read)/float64(max(len(got), 1)))
				require.LessOrEqual(t, float64(m.Read), cmp.Or(s.most, readsPerTaken)*stormTake)
				b.drop(got)
				fee = laneFee(r, fee)
			}
			fmt.Fprintf(&table, "%-50s %8d %8d %8d %8.2f %8.2f\n", s.name, taken, heads/stormBlocks, beyond/stormBlocks,
				float64(beyond)/float64(max(taken, 1)), most)
		})
	}
	t.Log("\n" + table.String())
}

// TestLaneStaysFullUnderAdversarialBids: where no exact order can be had for the reads that a block may spend, the
// block is full all the same, of timers that pay the lane's fee, and the storm passes.
func TestLaneStaysFullUnderAdversarialBids(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	b, e, prices := gather(hidden(), r, 20_000), defaultMarket(), pricesAt(price(startFee), price(0))
	paying := len(e.Order(prices, b.timers))
	for block := 0; paying > 0; block++ {
		m := openIndex(t, b.store, e, prices, readsPerTaken*stormTake)
		got := takeSome(t, m, stormTake)
		require.LessOrEqual(t, m.Read, readsPerTaken*stormTake)
		require.Len(t, got, min(stormTake, paying), "block %d", block)
		paying -= len(got)
		b.drop(got)
		require.Len(t, e.Order(prices, b.timers), paying, "it took what is priced out")
	}
}

const benchTimers = 100_000

// BenchmarkIndex takes 500 of 100,000 at a time, from an index in memory.
func BenchmarkIndex(b *testing.B) {
	for i, s := range storms()[:4] {
		backlog, e := gather(s, rand.New(rand.NewPCG(1, uint64(i))), benchTimers), defaultMarket()
		b.Run(strings.ReplaceAll(s.name, " ", "-"), func(b *testing.B) {
			prices := pricesAt(price(startFee), price(usualTip))
			heads, beyond, taken := 0, 0, 0
			for range b.N {
				m := openIndex(b, backlog.store, e, prices, eip1559Enough)
				taken += len(takeSome(b, m, stormTake))
				heads, beyond = heads+m.Heads, beyond+m.Read
			}
			b.ReportMetric(float64(heads)/float64(taken), "heads/taken")
			b.ReportMetric(float64(beyond)/float64(taken), "reads/taken")
		})
	}
}

// TestFewListsAreOpened: of the hundreds of lists that different bids make, a block with a small lane opens little more
// than those that win, and the summary is corrected little oftener than that.
func TestFewListsAreOpened(t *testing.T) {
	const take, blocks = 14, 12
	e := defaultMarket()
	r := rand.New(rand.NewPCG(1, 2))
	b := gather(storms()[0], r, 20_000)
	lists := 0
	require.NoError(t, b.store.Bounds(context.Background(), func(market.List, sdkmath.LegacyDec) { lists++ }))
	require.Greater(t, lists, 100)
	heads, taken, fee := 0, 0, startFee
	for range blocks {
		prices := pricesAt(price(fee), sdkmath.LegacyZeroDec())
		m := openIndex(t, b.store, e, prices, eip1559Enough)
		got := takeSome(t, m, take)
		require.Equal(t, inOrder(e, prices, b.timers)[:take], got)
		b.drop(got)
		heads, taken, fee = heads+m.Heads, taken+len(got), laneFee(r, fee)
	}
	t.Logf("%d lists; %d heads read and %d bounds lowered for %d timers", lists, heads, b.store.Lowered, taken)
	require.LessOrEqual(t, heads, 3*taken)
	require.LessOrEqual(t, b.store.Lowered, 2*taken)
}
