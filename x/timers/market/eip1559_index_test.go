package market_test

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/testutil/mergetest"
	"github.com/cosmos-timers/timers/x/timers/testutil/policytest"
)

// newStore is an index of some timers.
func newStore(timers ...market.Candidate) *mergetest.Store {
	store := mergetest.New()
	store.Summarized = market.Leads
	for _, c := range timers {
		store.Add(entriesOf(c)...)
	}
	return store
}

func entriesOf(c market.Candidate) []market.ListEntry {
	return market.EntriesOf(c.Ask, c.Weight, c.Due, c.Seq)
}

func pricesAt(lane, p50 math.LegacyDec) market.Prices {
	return market.Prices{Cycle: math.LegacyZeroDec(), Cell: math.LegacyZeroDec(), Lane: lane, P50: p50}
}

// enough reads for any index of these tests.
const eip1559Enough = 1 << 30

// inOrder is the full sort: the seqs of the timers in the policy's order.
func inOrder(e market.EIP1559, prices market.Prices, timers []market.Candidate) []uint64 {
	seqs := []uint64{}
	for _, i := range e.Order(prices, timers) {
		seqs = append(seqs, timers[i].Seq)
	}
	return seqs
}

// takeSome hands out at most n.
func takeSome(t require.TestingT, m *market.EIP1559Index, n int) []uint64 {
	seqs := []uint64{}
	for len(seqs) < n {
		entry, found, err := m.Next(context.Background())
		require.NoError(t, err)
		if !found {
			break
		}
		seqs = append(seqs, entry.Seq)
	}
	return seqs
}

func openIndex(t require.TestingT, store market.ListSummary, e market.EIP1559, prices market.Prices, maxReads int) *market.EIP1559Index {
	m, err := market.OpenEIP1559Index(context.Background(), store, e, prices, maxReads)
	require.NoError(t, err)
	return m
}

// drawIndexPrices draws the lane's prices and a multiplier, from small ones to the largest.
func drawIndexPrices(t *rapid.T) (market.EIP1559, market.Prices) {
	e := defaultMarket()
	e.Multiplier = rapid.OneOf(
		rapid.SampledFrom([]math.LegacyDec{policytest.Dec("0"), policytest.Dec("1"), policytest.Dec("1"), policytest.Dec("2")}),
		rapid.Map(rapid.Int64Range(0, 2e18), func(n int64) math.LegacyDec { return math.LegacyNewDecWithPrec(n, math.LegacyPrecision) }),
	).Draw(t, "multiplier")
	lane := rapid.OneOf(
		rapid.Custom(func(t *rapid.T) math.LegacyDec { return policytest.Units(eip1559DrawUnits(t, "lane")) }),
		rapid.SampledFrom([]math.LegacyDec{policytest.Dec("0"), policytest.Dec("0.000000000000000020"), policytest.Dec("0.01"), policytest.Dec("1")}),
	).Draw(t, "lane")
	p50 := rapid.OneOf(rapid.Just(math.LegacyZeroDec()), rapid.Custom(func(t *rapid.T) math.LegacyDec { return policytest.Units(eip1559DrawUnits(t, "p50")) })).Draw(t, "p50")
	return e, pricesAt(lane, p50)
}

// drawTimers draws timers whose asks lie about the lane's fee, and often meet each other in price, place and slack.
func drawTimers(t *rapid.T, fee math.LegacyDec, most int) []market.Candidate {
	weight := rapid.SampledFrom([]*rapid.Generator[uint32]{
		rapid.Just(uint32(32)), rapid.SampledFrom([]uint32{16, 32}), rapid.Uint32Range(16, 32), rapid.Uint32Range(1, 100),
	}).Draw(t, "weights")
	due := rapid.OneOf(rapid.Uint64Max(3), rapid.Uint64())
	n := rapid.OneOf(rapid.IntRange(0, most), rapid.IntRange(most/2, most)).Draw(t, "timers")
	seqs := rapid.SliceOfNDistinct(rapid.Uint64Max(1<<20), n, n, rapid.ID[uint64]).Draw(t, "seqs")
	// about is a distance of up to three tenths of the fee, or of some units.
	about := rapid.Custom(func(t *rapid.T) math.LegacyDec {
		part := fee.MulInt64(rapid.Int64Range(0, 30).Draw(t, "hundredths")).QuoInt64(100)
		return part.Add(math.LegacyNewDecWithPrec(rapid.Int64Range(0, 4).Draw(t, "units"), math.LegacyPrecision))
	})
	near := rapid.Custom(func(t *rapid.T) math.LegacyDec {
		off := about.Draw(t, "off")
		return math.LegacyMaxDec(math.LegacyZeroDec(), fee.Add(rapid.SampledFrom([]math.LegacyDec{off, off.Neg()}).Draw(t, "side")))
	})
	tip := rapid.OneOf(about, about, rapid.Custom(func(t *rapid.T) math.LegacyDec { return policytest.Units(eip1559DrawUnits(t, "tip")) }))
	timers := make([]market.Candidate, len(seqs))
	for i, seq := range seqs {
		ask := drawWideAsk(t)
		if ask.Kind == market.Stated && rapid.IntRange(0, 5).Draw(t, "near") > 0 {
			// The slack lies near the fee, or the whole fee does.
			stated := tip.Draw(t, "max priority")
			maxFee := near.Draw(t, "slack")
			if rapid.Bool().Draw(t, "slack is near") {
				maxFee = maxFee.Add(stated)
			}
			ask = market.StatedAsk(maxFee, stated)
		}
		switch rapid.IntRange(0, 5).Draw(t, "spend cap") {
		case 0:
			ask.SpendCap.PerSize = near.Draw(t, "near the fee")
		case 1:
			ask.SpendCap.PerSize = fee.Add(tip.Draw(t, "above the fee"))
		case 2:
			ask.SpendCap.PerSize = policytest.Dec(rapid.SampledFrom([]string{"-1", "0", policytest.MaxPrice}).Draw(t, "edge"))
		}
		ask.SpendCap.PerSize = atMostLargest(ask.SpendCap.PerSize)
		timers[i] = market.Candidate{Due: due.Draw(t, "due"), Seq: seq, Ask: ask, Weight: weight.Draw(t, "weight")}
	}
	return timers
}

// atMostLargest is a spend cap within what market.SpendCapOf returns.
func atMostLargest(spendCap math.LegacyDec) math.LegacyDec {
	if spendCap.IsNil() {
		return spendCap
	}
	return math.LegacyMinDec(spendCap, policytest.Dec(policytest.MaxPrice))
}

// indexProperty: all that a full sort puts in order, the index hands out in that order, once each; block after block,
// at prices that change, with what was handed out gone and others come.
func indexProperty(t *rapid.T) {
	e, prices := drawIndexPrices(t)
	timers := drawTimers(t, e.Fee(prices), 60)
	store := newStore(timers...)
	for range rapid.IntRange(1, 4).Draw(t, "blocks") {
		want := inOrder(e, prices, timers)
		take := rapid.IntRange(0, len(timers)+1).Draw(t, "take")
		want = want[:min(take, len(want))]

		store.Firsts, store.Reads, store.Dropped = 0, 0, 0
		m := openIndex(t, store, e, prices, eip1559Enough)
		require.Equal(t, want, takeSome(t, m, take))
		require.Equal(t, []int{store.Firsts, store.Reads}, []int{m.Heads, m.Read}, "what it counts is what it read")
		require.LessOrEqual(t, m.Heads+m.Read, store.Len()*2+store.Dropped, "an entry is read as a head and beyond at most, but where a list is empty")

		timers = slices.DeleteFunc(timers, func(c market.Candidate) bool {
			taken := slices.Contains(want, c.Seq)
			if taken {
				store.Remove(entriesOf(c)...)
			}
			return taken
		})
		step := policytest.Dec(rapid.SampledFrom([]string{"0.875", "1", "1.125"}).Draw(t, "step"))
		prices.Lane = math.LegacyMinDec(prices.Lane.MulTruncate(step), policytest.Dec(policytest.MaxPrice))
		for _, c := range drawTimers(t, e.Fee(prices), 6) {
			c.Seq += 1 << 21 * uint64(1+len(timers))
			if !slices.ContainsFunc(timers, func(other market.Candidate) bool { return other.Seq == c.Seq }) {
				timers = append(timers, c)
				store.Add(entriesOf(c)...)
			}
		}
	}
}

func TestIndexMatchesAFullSort(t *testing.T) { rapid.Check(t, indexProperty) }

func FuzzIndexIsAFullSort(f *testing.F) { f.Fuzz(rapid.MakeFuzz(indexProperty)) }

// capProperty: no more is read than the cap says. Until it is used up the order is exact; after that it is exact among
// what was read, and somebody fires if anybody would.
func capProperty(t *rapid.T) {
	ctx := context.Background()
	e, prices := drawIndexPrices(t)
	timers := drawTimers(t, e.Fee(prices), 60)
	maxReads := rapid.IntRange(0, 40).Draw(t, "max reads")
	m := openIndex(t, newStore(timers...), e, prices, maxReads)
	want, got := inOrder(e, prices, timers), []uint64{}
	exact := 0
	for {
		entry, found, err := m.Next(ctx)
		require.NoError(t, err)
		require.LessOrEqual(t, m.Read, maxReads)
		if !found {
			break
		}
		got = append(got, entry.Seq)
		if m.Read < maxReads {
			exact = len(got)
		}
	}
	require.Equal(t, want[:exact], got[:exact])
	if m.Read < maxReads {
		require.Equal(t, want, got, "it stopped with reads left")
	}
	place := -1
	for _, seq := range got[exact:] {
		next := slices.Index(want, seq)
		require.Greater(t, next, place, "twice, priced out, or not the best of what was read")
		place = next
	}
	require.Equal(t, len(want) > 0, len(got) > 0, "no one fires")
	require.Empty(t, takeSome(t, m, 1), "it goes on after it said that there are no more")
}

// Rule: 5.4-index-reads
func TestIndexReadsAreBounded(t *testing.T) { rapid.Check(t, capProperty) }

func FuzzIndexReadsNoMoreThanItMay(f *testing.F) { f.Fuzz(rapid.MakeFuzz(capProperty)) }

// first is the place of the best of the timers; -1 if all are priced out.
func first(e market.EIP1559, prices market.Prices, timers []market.Candidate) int {
	order := e.Order(prices, timers)
	if len(order) == 0 {
		return -1
	}
	return order[0]
}

// returnProperty: what is handed out under an outdated weight and comes back lies where its new weight puts it among
// what is left. The index is left alone, or the timer is filed again, in which case it may be met once more.
func eip1559ReturnProperty(t *rapid.T) {
	ctx := context.Background()
	e, prices := drawIndexPrices(t)
	left := drawTimers(t, e.Fee(prices), 40)
	store := newStore(left...)
	refile := rapid.Bool().Draw(t, "filed anew")
	m := openIndex(t, store, e, prices, eip1559Enough)
	fired, weights := map[uint64]bool{}, map[uint64]uint32{}
	for range 3*len(left) + 1 {
		entry, found, err := m.Next(ctx)
		require.NoError(t, err)
		if !found {
			require.Equal(t, -1, first(e, prices, left), "it left some")
			return
		}
		if fired[entry.Seq] {
			require.True(t, refile, "it hands out the same timer twice")
			continue
		}
		best := first(e, prices, left)
		require.GreaterOrEqual(t, best, 0)
		require.Equal(t, left[best].Seq, entry.Seq)
		require.Equal(t, left[best].Weight, entry.List.Weight(), "it names another weight than that it ranks by")

		if _, returned := weights[entry.Seq]; !returned && rapid.IntRange(0, 2).Draw(t, "outdated") == 0 {
			weight := rapid.Uint32Range(16, 32).Draw(t, "new weight")
			weights[entry.Seq] = weight
			if refile {
				store.Remove(entriesOf(left[best])...)
			}
			left[best].Weight = weight
			if rapid.IntRange(0, 3).Draw(t, "new spend cap") == 0 {
				left[best].Ask.SpendCap = market.SpendCap{PerSize: policytest.Units(eip1559DrawUnits(t, "spend cap"))}
			}
			if refile {
				store.Add(entriesOf(left[best])...)
			}
			m.Return(entriesOf(left[best])[0])
			continue
		}
		fired[entry.Seq] = true
		store.Remove(entriesOf(left[best])...)
		left = slices.Delete(left, best, best+1)
	}
	require.Fail(t, "it goes on for ever")
}

func TestEIP1559Index_ReordersTimersThatArePutBack(t *testing.T) {
	rapid.Check(t, eip1559ReturnProperty)
}

func FuzzIndexTakesBackWhatChangedItsWeight(f *testing.F) {
	f.Fuzz(rapid.MakeFuzz(eip1559ReturnProperty))
}

// leaveProperty: timers that leave or come while the index is read do not disturb the order of the others; those that
// left may still be handed out, those that came may be.
func leaveProperty(t *rapid.T) {
	ctx := context.Background()
	e, prices := drawIndexPrices(t)
	timers := drawTimers(t, e.Fee(prices), 40)
	store := newStore(timers...)
	want := inOrder(e, prices, timers)
	came := drawTimers(t, e.Fee(prices), 10)
	for i := range came {
		came[i].Seq += 1 << 30
	}
	gone := map[uint64]bool{}
	m := openIndex(t, store, e, prices, eip1559Enough)
	var got []uint64
	for {
		entry, found, err := m.Next(ctx)
		require.NoError(t, err)
		if !found {
			break
		}
		got = append(got, entry.Seq)
		for _, c := range timers {
			if rapid.IntRange(0, 9).Draw(t, "leaves") == 0 {
				store.Remove(entriesOf(c)...)
				gone[c.Seq] = gone[c.Seq] || !slices.Contains(got, c.Seq)
			}
		}
		if len(came) > 0 {
			store.Add(entriesOf(came[0])...)
			came = came[1:]
		}
	}
	stayed := func(seq uint64) bool { return gone[seq] || seq >= 1<<30 }
	require.Len(t, slices.Compact(slices.Sorted(slices.Values(got))), len(got), "it hands out the same timer twice")
	require.Equal(t, slices.DeleteFunc(want, stayed), slices.DeleteFunc(append([]uint64{}, got...), stayed))
}

func TestIndexToleratesRemovalDuringIteration(t *testing.T) { rapid.Check(t, leaveProperty) }

func FuzzIndexToleratesRemovalDuringIteration(f *testing.F) { f.Fuzz(rapid.MakeFuzz(leaveProperty)) }

// TestIndexPropagatesStoreErrors: whichever call fails, its error comes out.
func TestIndexPropagatesStoreErrors(t *testing.T) {
	ctx := context.Background()
	e, prices := defaultMarket(), pricesAt(policytest.Dec("1"), policytest.Dec("0.1"))
	var timers []market.Candidate
	for seq := range uint64(60) {
		ask := market.Ask{Kind: market.Kind(seq % 5)}
		if seq%2 == 0 {
			ask = market.StatedAsk(math.LegacyNewDecWithPrec(int64(110+seq), 2), math.LegacyNewDecWithPrec(int64(10+seq/9), 2))
		}
		timers = append(timers, market.Candidate{Ask: ask, Weight: 16 + uint32(seq%2), Seq: seq})
	}
	run := func(store *mergetest.Store) error {
		m, err := market.OpenEIP1559Index(ctx, store, e, prices, eip1559Enough)
		if err != nil {
			return err
		}
		for {
			if _, found, err := m.Next(ctx); err != nil || !found {
				return err
			}
		}
	}
	sound := newStore(timers...)
	require.NoError(t, run(sound))
	require.Greater(t, sound.Calls, 20)
	for i := range sound.Calls {
		broken := newStore(timers...)
		broken.Fail = i
		require.ErrorIs(t, run(broken), mergetest.ErrBroken, "call %d", i)
	}
}

// TestTheIndexLowersWhatBoundsAClassBadly: once the best timer of a bucket has left, whichever of its lists is read, and
// once only.
func TestTheIndexLowersWhatBoundsAClassBadly(t *testing.T) {
	stated := func(maxFee, tip int64, seq uint64) market.Candidate {
		return market.Candidate{Ask: market.StatedAsk(math.LegacyNewDec(maxFee), math.LegacyNewDec(tip)), Weight: 16, Seq: seq}
	}
	// The slack of both is 6. So each pays its tip at a fee of 1, and what the fee leaves at one of 10.
	best, next := stated(56, 50, 1), stated(11, 5, 2)
	for _, fee := range []string{"1", "10"} {
		store := newStore(best, next)
		store.Remove(entriesOf(best)...)
		for range 2 {
			m := openIndex(t, store, market.EIP1559{Multiplier: math.LegacyOneDec()}, pricesAt(policytest.Dec(fee), policytest.Dec("0")), eip1559Enough)
			require.Len(t, takeSome(t, m, 2), 1)
			require.Equal(t, 1, store.Lowered, "at a fee of %s", fee)
		}
	}
}

func TestIndexOfNothing(t *testing.T) {
	m := openIndex(t, newStore(), defaultMarket(), pricesAt(policytest.Dec("1"), policytest.Dec("0")), eip1559Enough)
	require.Empty(t, takeSome(t, m, 1))
	require.Zero(t, m.Heads+m.Read)
}
